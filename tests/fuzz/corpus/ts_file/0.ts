#c
@problemName x
@timeStamps false
@missing true
@univariate false
@dimensions 2
@equalLength true
@seriesLength 2
@classLabel true a b
@data
1,?:2,3:a
-1e5,.5:0,1:b
