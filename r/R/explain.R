#' The classifier behind a depth
#'
#' What the classifier that separates a row from the reference is made of. For reasons in words, of any method, see
#' [outliers()].
#'
#' @param object A fit of [lossdepth()].
#' @param newdata The rows to explain.
#' @param ... Not used.
#'
#' @return An object of class `lossdepth_explanation`, a list of
#'   * `scores`: a data frame as of `predict(type = "details")`;
#'   * `value`, `baseline`: the classifier at the row, and its mean over the reference;
#'   * `contributions`: for linear methods, a matrix of what each column adds: `value` is `baseline` plus these;
#'   * `slopes`: the slope of the classifier at the row along each column (`NaN` for categories);
#'   * `influence`: a matrix with the influence of each reference row on the depth;
#'   * `witness`: for kernel methods, a matrix of the classifier at each reference row;
#'   * `cuts`: for forests, a data frame for each row with the cuts that trees make around it;
#'   * `parts`: for `auto`, a data frame for each row with the depths that are combined.
#'
#'   What a method does not have is `NULL`.
#' @examples
#' fit <- lossdepth(iris[1:50, 1:4], method = "logistic", reg = 0.1, scale = "standard")
#' explain(fit, iris[c(42, 101), 1:4])
#' @export
explain <- function(object, ...) {
  UseMethod("explain")
}

#' @rdname explain
#' @export
explain.lossdepth <- function(object, newdata, ...) {
  given <- new_columns(object, newdata)
  found <- answer(.Call(wrap__native_explain, pointer(object), given$columns, object$missing, threads_to_use()))
  labels <- row_labels(newdata)
  labels <- if (is.null(labels)) as.character(found$scores$row) else labels[found$scores$row]
  by_row <- function(values, names) {
    if (is.null(values)) {
      return(NULL)
    }
    matrix(values, nrow = length(labels), byrow = TRUE, dimnames = list(labels, names))
  }
  frames <- function(lists) {
    lists <- stats::setNames(lapply(lists, as.data.frame), labels)
    if (any(vapply(lists, nrow, 1L) > 0L)) lists
  }
  scores <- as.data.frame(found$scores[c("depth", "error", "stderr", "iterations", "converged")])
  if (!anyDuplicated(labels)) {
    rownames(scores) <- labels
  }
  structure(
    list(scores = scores, method = object$method, value = found$value, baseline = found$baseline,
         contributions = by_row(found$contributions, found$names), slopes = by_row(found$slopes, found$names),
         influence = by_row(found$influence, NULL), witness = by_row(found$witness, NULL), cuts = frames(found$cuts),
         parts = frames(found$parts), labels = labels),
    class = "lossdepth_explanation"
  )
}

#' @export
print.lossdepth_explanation <- function(x, top = 4, digits = 3, ...) {
  for (i in seq_along(x$labels)) {
    cat("row ", x$labels[i], ": depth ", format(x$scores$depth[i], digits = 4), " (", x$method, ")\n", sep = "")
    if (!is.null(x$contributions)) {
      cat("  f = ", format(x$value[i], digits = digits), ": ", format(x$baseline[i], digits = digits),
          " at the mean of the reference, and of the columns\n", sep = "")
      show_largest(x$contributions[i, ], order(x$contributions[i, ]), top, digits)
    } else if (!is.null(x$slopes)) {
      cat("  f = ", format(x$value[i], digits = digits), "; its slope along the columns\n", sep = "")
      show_largest(x$slopes[i, ], order(-abs(x$slopes[i, ])), top, digits)
    }
    if (!is.null(x$cuts)) {
      cuts <- utils::head(x$cuts[[i]], top)
      cat(paste0("  cut ", cuts$side, " ", cuts$column, ifelse(is.nan(cuts$threshold), "", paste0(" at ",
          format(cuts$threshold, digits = digits, trim = TRUE))), ", in ", format_share(cuts$probability),
          " of the trees"), sep = "\n")
    }
    if (!is.null(x$parts)) {
      parts <- x$parts[[i]]
      cat(paste0("  ", format(parts$part), "  ", format(signif(parts$probability, digits)),
                 " of the reference at most as deep"), sep = "\n")
    }
  }
  invisible(x)
}

show_largest <- function(values, order, top, digits) {
  chosen <- utils::head(order, top)
  names <- names(values)[chosen]
  cat(paste0("    ", format(names), "  ", format(signif(values[chosen], digits))), sep = "\n")
}
