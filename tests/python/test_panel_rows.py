"""Two rows of one series and date, and columns besides the id."""
import pandas as pd

from cli_helpers import fails, ok
from test_changed_panels import made, written


def test_duplicate_rows_and_columns_of_ids(tmp_path):
    def refused(frame):
        return fails(65, arguments=["data", "show", written(frame, tmp_path / "p.csv"), "--set", "data.panel=yes", "--set", "data.id=item"])

    frame = made(ids=("a", "b"), rows=30).rename(columns={"unique_id": "item"})
    assert "p.csv:62: series 'a' has a second row for 2015-01-03, the first is in line 4: remove one of them" in refused(
        pd.concat([frame, frame.iloc[[2]]]))
    shops = pd.concat([frame.assign(store=1), frame.assign(store=2)])
    assert "p.csv:62: series 'a' has a second row for 2015-01-01, the first is in line 2: set data.id to all series id columns" in refused(shops)
    shops = shops.assign(item=shops.item + shops.store.astype(str))
    shown = ok("data", "show", written(shops[["item", "store", "ds", "y"]], tmp_path / "n.csv"), "--set", "data.panel=yes").stdout
    assert "column 'store' has the name of series ids and is dropped; data.id = item,store makes both the id" in shown
