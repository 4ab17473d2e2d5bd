# CRAN allows two cores.
options(lossdepth.threads = 2)

cloud <- function(n, d, seed) {
  set.seed(seed)
  matrix(rnorm(n * d), n, d)
}

# Tables as they are: a factor, a text, a truth value, a date, gaps.
mixed <- function(n = 120) {
  set.seed(7)
  frame <- data.frame(
    price = round(rlnorm(n), 2), region = factor(sample(c("north", "south", "west"), n, TRUE)),
    channel = sample(c("shop", "web"), n, TRUE), member = sample(c(TRUE, FALSE), n, TRUE),
    day = as.Date("2024-01-01") + sample(300, n, TRUE), length = as.difftime(runif(n), units = "hours")
  )
  frame$price[c(3, 50)] <- NA
  frame$region[9] <- NA
  frame
}
