@univariate true
@classLabel false
@data
1,2
3
