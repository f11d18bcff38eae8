"""Base classes of scikit-learn for the estimators, empty ones where it is not installed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:

    class BaseEstimator: ...

    class ClassifierMixin: ...

else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin
    except ImportError:
        BaseEstimator, ClassifierMixin = type("BaseEstimator", (), {}), type("ClassifierMixin", (), {})

__all__ = ["BaseEstimator", "ClassifierMixin"]
