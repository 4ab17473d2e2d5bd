#' @export
print.lossdepth <- function(x, ...) {
  about <- x$about
  cat(about$title, " (", x$method, ")\n", sep = "")
  cat("reference: ", counted(about$rows, "row"), ", ", counted(about$columns, "column"),
      if (!is.null(about$weights)) ", weighted", "\n", sep = "")
  cat(strwrap(paste0("settings: ", settings_in_words(x$settings)), exdent = 10), sep = "\n")
  about_columns(about$encoding)
  invisible(x)
}

counted <- function(count, what) {
  paste0(format(count, big.mark = ",", scientific = FALSE), " ", what, if (count != 1) "s")
}

settings_in_words <- function(settings) {
  settings <- settings[!vapply(settings, is.null, NA)]
  if (length(settings) == 0L) {
    return("none")
  }
  value <- function(v) paste(if (is.numeric(v)) format(v, digits = 6, trim = TRUE) else v, collapse = " ")
  paste(names(settings), vapply(settings, value, ""), collapse = ", ")
}

# What is compared, in the words of the command line.
about_columns <- function(encoding) {
  if (is.null(encoding)) {
    return(invisible())
  }
  names <- ifelse(encoding$gaps > 0, paste0(encoding$name, " (", format_share(encoding$gaps), " gaps)"), encoding$name)
  words <- c(number = "", category = " (category)", boolean = " (yes or no)", date = " (date)")
  compared <- paste0(names, words[encoding$kind], collapse = ", ")
  cat(strwrap(paste("compared: ", compared), exdent = 10), sep = "\n")
  if (length(encoding$left_out)) {
    left <- paste0(encoding$left_out, " (", encoding$why, ")", collapse = ", ")
    cat(strwrap(paste("left out: ", left), exdent = 10), sep = "\n")
  }
}

format_share <- function(share) {
  ifelse(share < 0.005, "<1%", paste0(round(100 * share), "%"))
}

#' Summarise a depth
#'
#' Scores the rows of the reference.
#'
#' @param object A fit of [lossdepth()].
#' @param contamination The share of the reference to call outlying, for the threshold that is shown.
#' @param ... Not used.
#' @return An object of class `summary.lossdepth`: quantiles of the depths of the reference, the largest bound on their
#'   numerical error, how many missed the tolerance, and the depth below which rows are outliers.
#' @examples
#' summary(lossdepth(iris[, 1:4]))
#' @export
summary.lossdepth <- function(object, contamination = 0.1, ...) {
  scores <- score(object, NULL, FALSE)
  structure(
    list(fit = object, depths = stats::quantile(scores$depth, names = TRUE), error = max(scores$error),
         stderr = stats::median(scores$stderr, na.rm = TRUE), missed = sum(!scores$converged),
         threshold = answer(.Call(wrap__native_threshold, scores$depth, object$about$weights, contamination)),
         contamination = contamination),
    class = "summary.lossdepth"
  )
}

#' @export
print.summary.lossdepth <- function(x, digits = 4, ...) {
  print(x$fit)
  cat("\ndepths of the reference:\n")
  print(x$depths, digits = digits)
  cat("\nlargest bound on the numerical error: ", format(x$error, digits = 2), "\n", sep = "")
  if (is.finite(x$stderr)) {
    cat("median standard error (sampling): ", format(x$stderr, digits = 2), "\n", sep = "")
  }
  if (x$missed > 0) {
    cat(counted(x$missed, "row"), " missed the tolerance\n", sep = "")
  }
  cat("outliers at contamination ", x$contamination, ": depth below ", format(x$threshold, digits = digits), "\n",
      sep = "")
  invisible(x)
}
