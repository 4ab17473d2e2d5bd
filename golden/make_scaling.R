# Golden values for the minimum covariance determinant, by robustbase.
#
# Run after make_scaling.py, in the same folder: reads the rows of scaling_<case>.json and writes
# scaling_<case>_robustbase.json with centre, scatter and kept rows of
#
#   covMcd(nsamp = "deterministic", alpha, use.correction = FALSE)
#
# where alpha is chosen so that the support has exactly the asked share of the rows: robustbase interpolates
# between (n + d + 1) / 2 and n, for alpha = 0.75 its support is a little larger. For a single column
# robustbase's exact search is used (its deterministic variant takes the variance for the standard deviation
# there). `factor` is what turns our scatter into robustbase's, which divides by the number of kept rows less one
# and applies the consistency factor of the share of rows kept instead of 0.975.

library(robustbase)
library(jsonlite)

consistency <- function(p, d) p / pchisq(qchisq(p, d), d + 2)

estimate <- function(rows, alpha) {
    nsamp <- if (ncol(rows) == 1) 500 else "deterministic"
    fit <- covMcd(rows, nsamp = nsamp, alpha = alpha, use.correction = FALSE)
    raw <- mahalanobis(rows, fit$raw.center, as.matrix(fit$raw.cov))
    kept <- which(raw < qchisq(0.975, ncol(rows)))
    m <- length(kept)
    list(
        alpha = alpha,
        support = fit$quan,
        center = as.list(unname(fit$center)),
        covariance = unname(fit$cov),
        kept = kept - 1L,
        factor = m / (m - 1) * consistency(m / nrow(rows), ncol(rows)) / consistency(0.975, ncol(rows))
    )
}

for (name in c("line", "cluster", "near", "correlated")) {
    golden <- read_json(sprintf("scaling_%s.json", name), simplifyVector = TRUE)
    rows <- as.matrix(golden$rows)
    n <- nrow(rows)
    least <- (n + ncol(rows) + 1) %/% 2
    support <- golden$support_fraction * n
    alpha <- (support - 2 * least + n) / (2 * (n - least)) + 1e-9
    out <- list(
        versions = list(R = as.character(getRversion()), robustbase = as.character(packageVersion("robustbase"))),
        same_support = estimate(rows, alpha),
        usual_support = estimate(rows, golden$support_fraction)
    )
    write_json(out, sprintf("scaling_%s_robustbase.json", name), auto_unbox = TRUE, digits = NA)
}
