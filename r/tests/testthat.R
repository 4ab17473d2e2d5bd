library(testthat)
library(lossdepth)

test_check("lossdepth")
