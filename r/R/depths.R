#' Depths of points with respect to a sample
#'
#' One call instead of a fit and a prediction, with the arguments in the order of the package ddalpha.
#'
#' `depth.` takes any method; the other functions are named after theirs. Where ddalpha is attached too, the package that
#' was attached last is used: write `lossdepth::depth.halfspace` to be sure.
#'
#' The halfspace depth is exact while `budget` lasts, in any dimension. With `exact = FALSE` it is the smallest share of
#' points in the halfspaces of `num.directions` directions, which is never below the exact depth. The other arguments of
#' ddalpha are understood where they have a meaning here; a message says which were not used.
#'
#' The potential is the mean of the kernel over the sample, between 0 and 1, where ddalpha has the sum of densities.
#'
#' @param x The points, a matrix or data frame; a vector is one point, or several if `data` has one column.
#' @param data The sample.
#' @param notion Which depth: a name from [depth_methods()], in any case.
#' @param ... Settings of the method by name, see [depth_settings()], for `depth.` also the arguments of ddalpha below; `weights`,
#'   `preset`, `kinds` and `missing` as in [lossdepth()].
#' @param exact,method,num.directions,seed,k Arguments of ddalpha, see Details.
#' @param mah.estimate,mah.parMcd By which scatter matrix distances are measured (`"moment"`, `"MCD"`, or `"none"` for
#'   `spatial` and `L2`), and the share of the rows that the minimum covariance determinant uses.
#' @param pretransform,kernel,kernel.bandwidth The scatter matrix (`"1Mom"`, `"1MCD"` or `"none"`), the Gaussian kernel,
#'   and its variance in units of the scatter matrix.
#'
#' @return The depths, between 0 and 1.
#' @examples
#' depth.halfspace(c(6, 3), iris[, 1:2])
#' depth.Mahalanobis(c(6, 3), iris[, 1:2], "MCD")
#' depth.(iris[1:3, 1:4], iris[, 1:4], "logistic", reg = 0.1)
#'
#' # One row in the middle, and one far out.
#' data <- iris[1:50, 1:2]
#' points <- iris[c(8, 42), 1:2]
#' cbind(
#'   mahalanobis = depth.mahalanobis(points, data), spatial = depth.spatial(points, data),
#'   L2 = depth.L2(points, data), l2 = depth.l2(points, data),
#'   potential = depth.potential(points, data), zonoid = depth.zonoid(points, data),
#'   simplicial = depth.simplicial(points, data), projection = depth.projection(points, data)
#' )
#' cbind(
#'   logistic = depth.logistic(points, data), hinge = depth.hinge(points, data),
#'   squared.hinge = depth.squared.hinge(points, data),
#'   exponential = depth.exponential(points, data), svm = depth.svm(points, data),
#'   klr = depth.klr(points, data), gp = depth.gp(points, data),
#'   forest = depth.forest(points, data), mlp = depth.mlp(points, data),
#'   auto = depth.auto(points, data)
#' )
#' @name depths
NULL

#' @rdname depths
#' @export
depth. <- function(x, data, notion = "auto", ...) {
  name <- answer(.Call(wrap__native_method_name, notion))
  if (name %in% complete_numbers_only && any(arguments_of_ddalpha %in% ...names())) {
    return(get(paste0("depth.", name))(x, data, ...))
  }
  depth_by(x, data, notion, ...)
}

# What `depth.` passes on to the function of the notion, which knows them.
arguments_of_ddalpha <- c("exact", "method", "num.directions", "k", "mah.estimate", "mah.parMcd", "pretransform", "kernel",
                          "kernel.bandwidth")

depth_by <- function(x, data, notion, ...) {
  # Only to give points of one column their shape.
  if (is.atomic(x) && is.null(dim(x)) && NCOL(data) == 1L) {
    x <- matrix(x, ncol = 1L, dimnames = list(NULL, colnames(data)))
  }
  fit <- lossdepth.default(data, method = notion, ...)
  unname(predict.lossdepth(fit, x))
}

# Arguments of ddalpha that change nothing are announced.
not_used <- function(given, why) {
  if (any(given)) {
    message(why, ": ", paste0("`", names(given)[given], "`", collapse = ", "), " not used")
  }
}

#' @rdname depths
#' @export
depth.halfspace <- function(x, data, exact = TRUE, method, num.directions = 1000, seed = 0, ...) {
  not_used(c(method = !missing(method), num.directions = !missing(num.directions) && isTRUE(exact),
             seed = !missing(seed)), "halfspace")
  if (isTRUE(exact)) {
    return(depth_by(x, data, "halfspace", ...))
  }
  depth_by(x, data, "halfspace", num_directions = num.directions, tol = 1, ...)
}

#' @rdname depths
#' @export
depth.mahalanobis <- function(x, data, mah.estimate = "moment", mah.parMcd = 0.75, ...) {
  depth_by(x, data, "mahalanobis", scatter = tolower(mah.estimate), support_fraction = mah.parMcd, ...)
}

#' @rdname depths
#' @export
depth.Mahalanobis <- depth.mahalanobis

#' @rdname depths
#' @export
depth.spatial <- function(x, data, mah.estimate = "moment", mah.parMcd = 0.75, ...) {
  depth_by(x, data, "spatial", scatter = tolower(mah.estimate), support_fraction = mah.parMcd, ...)
}

#' @rdname depths
#' @export
depth.l2 <- function(x, data, mah.estimate = "moment", mah.parMcd = 0.75, ...) {
  depth_by(x, data, "l2", scatter = tolower(mah.estimate), support_fraction = mah.parMcd, ...)
}

#' @rdname depths
#' @export
depth.L2 <- depth.l2

#' @rdname depths
#' @export
depth.projection <- function(x, data, method = "random", num.directions = 1000, seed = 0, ...) {
  not_used(c(method = !missing(method)), "projection")
  depth_by(x, data, "projection", num_directions = num.directions, seed = seed, ...)
}

#' @rdname depths
#' @export
depth.zonoid <- function(x, data, seed = 0, ...) {
  not_used(c(seed = !missing(seed)), "zonoid, exact")
  depth_by(x, data, "zonoid", ...)
}

#' @rdname depths
#' @export
depth.simplicial <- function(x, data, exact = FALSE, k = 0.05, seed = 0, ...) {
  not_used(c(exact = !missing(exact) && !isTRUE(exact), k = !missing(k)), "simplicial, exact up to three columns")
  depth_by(x, data, "simplicial", seed = seed, ...)
}

#' @rdname depths
#' @export
depth.potential <- function(x, data, pretransform = "1Mom", kernel = "GKernel", kernel.bandwidth = NULL,
                            mah.parMcd = 0.75, ...) {
  scatter <- c(`1Mom` = "moment", NMom = "moment", `1MCD` = "mcd", NMCD = "mcd", none = "none")
  if (!is.character(pretransform) || length(pretransform) != 1L || !pretransform %in% names(scatter)) {
    fail("`pretransform` must be one of ", paste(names(scatter), collapse = ", "))
  }
  if (!identical(kernel, "GKernel")) {
    fail('`kernel` must be "GKernel", the Gaussian kernel')
  }
  depth_by(x, data, "potential", scatter = scatter[[pretransform]], bandwidth = kernel.bandwidth,
         support_fraction = mah.parMcd, ...)
}

#' @rdname depths
#' @export
depth.logistic <- function(x, data, ...) {
  depth_by(x, data, "logistic", ...)
}

#' @rdname depths
#' @export
depth.hinge <- function(x, data, ...) {
  depth_by(x, data, "hinge", ...)
}

#' @rdname depths
#' @export
depth.squared.hinge <- function(x, data, ...) {
  depth_by(x, data, "squared-hinge", ...)
}

#' @rdname depths
#' @export
depth.exponential <- function(x, data, ...) {
  depth_by(x, data, "exponential", ...)
}

#' @rdname depths
#' @export
depth.svm <- function(x, data, ...) {
  depth_by(x, data, "svm", ...)
}

#' @rdname depths
#' @export
depth.klr <- function(x, data, ...) {
  depth_by(x, data, "klr", ...)
}

#' @rdname depths
#' @export
depth.gp <- function(x, data, ...) {
  depth_by(x, data, "gp", ...)
}

#' @rdname depths
#' @export
depth.forest <- function(x, data, ...) {
  depth_by(x, data, "forest", ...)
}

#' @rdname depths
#' @export
depth.mlp <- function(x, data, ...) {
  depth_by(x, data, "mlp", ...)
}

#' @rdname depths
#' @export
depth.auto <- function(x, data, ...) {
  depth_by(x, data, "auto", ...)
}
