#' Depths of points with respect to a sample
#'
#' One call instead of a fit and a prediction, with the arguments in the order of the package ddalpha.
#'
#' `depth.` takes any method; the other functions are named after theirs. Where ddalpha is attached too, the package that
#' was attached last is used: write `lossdepth::depth.halfspace` to be sure.
#'
#' The halfspace depth is exact while `budget` lasts, in any dimension; the arguments `exact`, `method`,
#' `num.directions` and `seed` of ddalpha are understood and change nothing, and a message says so.
#'
#' @param x The points, a matrix or data frame; a vector is one point, or several if `data` has one column.
#' @param data The sample.
#' @param notion Which depth: a name from [depth_methods()], in any case.
#' @param ... Settings of the method by name, see [depth_settings()]; also `weights`, `preset`, `kinds` and `missing` as
#'   in [lossdepth()].
#' @param exact,method,num.directions,seed Arguments of ddalpha, see Details.
#'
#' @return The depths, between 0 and 1.
#' @examples
#' depth.halfspace(c(6, 3), iris[, 1:2])
#' depth.(iris[1:3, 1:4], iris[, 1:4], "logistic", reg = 0.1)
#' @name depths
NULL

#' @rdname depths
#' @export
depth. <- function(x, data, notion = "auto", ...) {
  # Only to give points of one column their shape.
  if (is.atomic(x) && is.null(dim(x)) && NCOL(data) == 1L) {
    x <- matrix(x, ncol = 1L, dimnames = list(NULL, colnames(data)))
  }
  fit <- lossdepth.default(data, method = notion, ...)
  unname(predict.lossdepth(fit, x))
}

#' @rdname depths
#' @export
depth.halfspace <- function(x, data, exact, method, num.directions = 1000, seed = 0, ...) {
  given <- c(exact = !missing(exact) && !isTRUE(exact), method = !missing(method),
             num.directions = !missing(num.directions), seed = !missing(seed))
  if (any(given)) {
    message("the halfspace depth is exact while `budget` lasts: ", paste0("`", names(given)[given], "`", collapse = ", "),
            " not used")
  }
  depth.(x, data, "halfspace", ...)
}

#' @rdname depths
#' @export
depth.logistic <- function(x, data, ...) {
  depth.(x, data, "logistic", ...)
}

#' @rdname depths
#' @export
depth.hinge <- function(x, data, ...) {
  depth.(x, data, "hinge", ...)
}

#' @rdname depths
#' @export
depth.squared.hinge <- function(x, data, ...) {
  depth.(x, data, "squared-hinge", ...)
}

#' @rdname depths
#' @export
depth.exponential <- function(x, data, ...) {
  depth.(x, data, "exponential", ...)
}

#' @rdname depths
#' @export
depth.svm <- function(x, data, ...) {
  depth.(x, data, "svm", ...)
}

#' @rdname depths
#' @export
depth.klr <- function(x, data, ...) {
  depth.(x, data, "klr", ...)
}

#' @rdname depths
#' @export
depth.gp <- function(x, data, ...) {
  depth.(x, data, "gp", ...)
}

#' @rdname depths
#' @export
depth.forest <- function(x, data, ...) {
  depth.(x, data, "forest", ...)
}

#' @rdname depths
#' @export
depth.mlp <- function(x, data, ...) {
  depth.(x, data, "mlp", ...)
}

#' @rdname depths
#' @export
depth.auto <- function(x, data, ...) {
  depth.(x, data, "auto", ...)
}
