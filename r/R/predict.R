#' Depths, percentiles, p-values and outliers
#'
#' @param object A fit of [lossdepth()], or a model from [load_model()].
#' @param newdata Rows to score, with the columns of the reference; other columns are ignored. Without it the rows of
#'   the reference are scored.
#' @param type What to return:
#'   * `"depth"`: the depth, between 0 and 1; low is outlying;
#'   * `"percentile"`: the share of the reference that is at most as deep;
#'   * `"p-value"`: how likely a row is to be as shallow if it comes from where the reference came from;
#'   * `"outlier"`: whether the depth is below that of a share of `contamination` of the reference;
#'   * `"details"`: a data frame of depth, error (a bound on the numerical error of the depth), standard error
#'     (for the sampling of the reference; it includes the learning of the scalings `standard` and `whiten` for linear depths, other
#'     methods take the scaling for given; `NaN` for `auto` and `forest`), iterations, and whether the tolerance was reached.
#' @param contamination The share of the reference to call outlying, from 0 to 0.5.
#' @param calibration For p-values of new rows: `"split"` sets a share of the reference aside and compares with it,
#'   which is exact whatever the distribution; `"cross"` and `"leave-one-out"` use all rows for both, approximately. For
#'   the rows of the reference themselves the p-value is the percentile.
#' @param share,folds,seed The share to set aside, the number of folds, and where the random choice comes from.
#' @param ... Not used.
#'
#' @return A vector with a value for each row (`NA` for rows that `missing = "drop"` leaves out), or a data frame.
#' @examples
#' fit <- lossdepth(iris[1:100, 1:4])
#' predict(fit, iris[c(1, 101, 132), 1:4])
#' predict(fit, iris[c(1, 101, 132), 1:4], type = "p-value", calibration = "cross")
#' table(predict(fit, type = "outlier", contamination = 0.05))
#' @export
predict.lossdepth <- function(object, newdata = NULL,
                              type = c("depth", "percentile", "p-value", "outlier", "details"), contamination = 0.1,
                              calibration = c("split", "cross", "leave-one-out"), share = 0.5, folds = 10, seed = 0,
                              ...) {
  type <- match.arg(type)
  calibration <- match.arg(calibration)
  if (type == "p-value" && !is.null(newdata)) {
    given <- new_columns(object, newdata)
    found <- answer(.Call(
      wrap__native_p_values, pointer(object), given$columns, object$missing, calibration, share, folds, seed,
      threads_to_use()
    ))
    return(at_rows(found$p, found$row, given$rows, row_labels(newdata)))
  }
  if (is.null(newdata)) {
    depths <- reference_depths(object)
    return(switch(type,
      depth = depths,
      percentile = ,
      `p-value` = answer(.Call(wrap__native_own_p_values, depths, object$about$weights)),
      outlier = depths < threshold(object, contamination),
      details = details(score(object, NULL, FALSE), NULL, length(depths), NULL)
    ))
  }
  given <- new_columns(object, newdata)
  scores <- score(object, given, type != "details")
  labels <- row_labels(newdata)
  switch(type,
    depth = at_rows(scores$depth, scores$row, given$rows, labels),
    percentile = at_rows(percentile(object, scores$depth), scores$row, given$rows, labels),
    outlier = at_rows(scores$depth < threshold(object, contamination), scores$row, given$rows, labels),
    details = details(scores, scores$row, given$rows, labels)
  )
}

new_columns <- function(object, newdata) {
  if (!is.null(object$terms)) {
    newdata <- columns_of_terms(stats::delete.response(object$terms), newdata)
  } else if (!is.data.frame(newdata) && is.null(dim(newdata)) && object$about$columns != 1) {
    if (length(newdata) != object$about$columns) {
      fail("`newdata` has ", length(newdata), " numbers, the model ", object$about$columns, " columns")
    }
    newdata <- matrix(newdata, nrow = 1L, dimnames = list(NULL, names(newdata)))
  }
  given <- as_columns(newdata, what = "newdata")
  if (!given$named && object$about$named) {
    # A matrix without names has the columns of the reference in their order.
    if (length(given$columns) != length(object$about$names)) {
      fail("`newdata` has ", length(given$columns), " columns without names, the model has ",
           length(object$about$names))
    }
    given$columns <- Map(function(column, name) c(list(name), column[-1L]), given$columns, object$about$names)
  }
  given
}

score <- function(object, given, depths_only) {
  scores <- answer(.Call(
    wrap__native_score, pointer(object), if (!is.null(given)) given$columns, object$missing, threads_to_use(),
    depths_only
  ))
  missed <- sum(!scores$converged)
  if (missed > 0) {
    warning(missed, " of ", length(scores$converged), " rows missed the tolerance `tol`; ",
            'predict(type = "details") has the bound on the error of each', call. = FALSE)
  }
  scores
}

details <- function(scores, rows, count, labels) {
  columns <- c("depth", "error", "stderr", "iterations", "converged")
  if (is.null(rows)) {
    return(as.data.frame(scores[columns]))
  }
  frame <- as.data.frame(lapply(scores[columns], at_rows, rows, count, NULL))
  if (length(labels) == count && !anyDuplicated(labels)) {
    rownames(frame) <- labels
  }
  frame
}

# The depths of the reference, computed once.
reference_depths <- function(object) {
  if (is.null(object$state$depths)) {
    object$state$depths <- score(object, NULL, TRUE)$depth
  }
  object$state$depths
}

threshold <- function(object, contamination) {
  answer(.Call(wrap__native_threshold, reference_depths(object), object$about$weights, contamination))
}

percentile <- function(object, depths) {
  reference <- reference_depths(object)
  weights <- object$about$weights
  if (is.null(weights)) {
    weights <- rep(1, length(reference))
  }
  order <- order(reference)
  shares <- c(0, cumsum(weights[order])) / sum(weights)
  shares[findInterval(depths, reference[order]) + 1L]
}

#' @importFrom stats fitted
#' @export
fitted.lossdepth <- function(object, ...) {
  predict.lossdepth(object)
}
