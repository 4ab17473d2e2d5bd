#' Deepest points, central regions and trimmed means
#'
#' `deepest_point()` finds a point that is as deep as possible, a median of all columns at once. `central_region()` finds the
#' deepest rows of the reference; their mean is the depth-trimmed mean.
#'
#' The deepest point is proven for the Mahalanobis depth by moments and for the zonoid depth (it is the mean), and for the
#' halfspace depth of two columns. For other methods it is the result of a local search from the deepest row, the mean and
#' the medians of the columns: a heuristic. It needs columns of numbers.
#'
#' @param object A fit of [lossdepth()], or a model from [load_model()].
#' @param share The share of the weight that the deepest rows have at least, above 0 and at most 1; rows as deep as the
#'   last one are included.
#'
#' @return `deepest_point()`: a list of `point`, its `depth`, `upper` (no point is deeper; 1 where nothing is known),
#'   `found` (`"proven"` or `"local search"`), and the number and the depth of the deepest row (`row`, `row_depth`).
#'   `central_region()`: a list of the least `depth` of the rows, their numbers `rows`, their `share` of the weight, and their
#'   `mean`.
#' @examples
#' fit <- lossdepth(faithful, method = "spatial")
#' deepest_point(fit)$point
#' central_region(fit, 0.9)$mean
#' @name central
NULL

#' @rdname central
#' @export
deepest_point <- function(object) {
  named(answer(.Call(wrap__native_deepest_point, fitted_model(object), threads_to_use())), "point", object)
}

#' @rdname central
#' @export
central_region <- function(object, share = 0.5) {
  if (!is.numeric(share) || length(share) != 1L || is.na(share)) {
    fail("`share` must be one number")
  }
  named(answer(.Call(wrap__native_central_region, fitted_model(object), as.double(share), threads_to_use())), "mean", object)
}

fitted_model <- function(object) {
  if (!inherits(object, "lossdepth")) {
    fail("`object` must be a fit of lossdepth()")
  }
  pointer(object)
}

# Gives the coordinates the names of the columns, unless these have none or a category has several coordinates.
named <- function(found, what, object) {
  force(found)
  if (object$about$named && length(found[[what]]) == length(found$names)) {
    names(found[[what]]) <- found$names
  }
  found[names(found) != "names"]
}
