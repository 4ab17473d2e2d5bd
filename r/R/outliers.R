#' The oddest rows of a table, with reasons
#'
#' @param x A data frame or matrix, or a fit of [lossdepth()] that `newdata` is compared with.
#' @param top How many rows.
#' @param reference The rows to compare with; by default `x` itself.
#' @param newdata Rows to compare with the reference of the fit.
#' @param reasons How many reasons to give for a row at most.
#' @param method,weights,preset,kinds,missing,... As in [lossdepth()]. Columns whose values are all different may be
#'   taken for the names of the rows, and free texts are left out: what was compared is printed.
#'
#' @return A data frame of class `lossdepth_outliers`, a row for each odd row, the oddest first:
#'   * `row`: its number in `x`, from 1;
#'   * `name`: its name, from the column that names the rows or the row names, or `NA`;
#'   * `depth`, `p`, `percentile`: the depth; the chance that a row from where the reference came from is as shallow;
#'     the share of the reference that is at most as deep;
#'   * `why`: the columns that account for it, in words;
#'   * `ordinary_with`: the smallest change found that makes the row ordinary.
#'
#'   The attribute `reasons` has a data frame for each row: column, value, text, and the share that the column accounts
#'   for.
#' @examples
#' outliers(mtcars, top = 3)
#' as.data.frame(outliers(iris, top = 2))
#' @export
outliers <- function(x, ...) {
  UseMethod("outliers")
}

#' @rdname outliers
#' @export
outliers.default <- function(x, top = 10, reference = NULL, method = "auto", ..., reasons = 3, weights = NULL,
                             preset = NULL, kinds = NULL, missing = "compare") {
  own <- is.null(reference)
  sample <- if (own) x else reference
  given <- as_columns(x, kinds)
  fit <- fit_depth(sample, method, list(...), weights, preset, kinds, missing, NULL, guess = TRUE)
  odd_rows(fit, given, x, own, weights, top, reasons)
}

#' @rdname outliers
#' @export
outliers.lossdepth <- function(x, newdata, top = 10, reasons = 3, ...) {
  odd_rows(x, new_columns(x, newdata), newdata, FALSE, NULL, top, reasons)
}

odd_rows <- function(fit, given, x, own, weights, top, reasons) {
  if (!is.numeric(reasons) || length(reasons) != 1L || is.na(reasons) || reasons < 1) {
    fail("`reasons` must be a whole number from 1 on")
  }
  weights <- if (!is.null(weights)) as.double(weights)
  found <- answer(.Call(
    wrap__native_outliers, pointer(fit), given$columns, fit$missing, own, weights, top, reasons, threads_to_use()
  ))
  each <- lapply(found$reasons, as.data.frame)
  names(each) <- found$row
  labels <- row_labels(x)
  name <- found$name
  if (!is.null(labels)) {
    name[is.na(name)] <- labels[found$row][is.na(name)]
  }
  why <- vapply(each, function(r) paste0(r$column, " ", r$value, ": ", r$text, collapse = "; "), "")
  changes <- vapply(found$changes, function(c) paste(c$column, c$to, collapse = ", "), "")
  frame <- data.frame(
    row = as.integer(found$row), name = name, depth = found$depth, p = found$p, percentile = found$percentile,
    why = ifelse(lengths(lapply(each, `[[`, "column")) > 0, why, ""), ordinary_with = changes,
    stringsAsFactors = FALSE
  )
  rownames(frame) <- NULL
  structure(
    frame, class = c("lossdepth_outliers", "data.frame"), reasons = each, rows = found$rows, fit = fit,
    columns = length(given$columns)
  )
}

#' @export
print.lossdepth_outliers <- function(x, ...) {
  if (!all(c("row", "name", "p", "ordinary_with") %in% names(x)) || is.null(attr(x, "reasons"))) {
    print(as.data.frame(x), ...)
    return(invisible(x))
  }
  fit <- attr(x, "fit")
  cat(counted(attr(x, "rows"), "row"), ", ", counted(attr(x, "columns"), "column"), "\n", sep = "")
  about_columns(fit$about$encoding)
  cat(strwrap(paste0("method:   ", fit$method, ", ", settings_in_words(fit$settings)), exdent = 10), sep = "\n")
  cat("\nThe ", nrow(x), " oddest of ", counted(attr(x, "rows"), "row"), "\n", sep = "")
  names <- ifelse(is.na(x$name), paste("row", x$row), x$name)
  lead <- paste0("  ", format(names), "  p ", format(signif(x$p, 2), scientific = FALSE, drop0trailing = TRUE))
  lead <- format(lead)
  blank <- strrep(" ", if (length(lead)) nchar(lead[1L], "width") else 0L)
  for (i in seq_len(nrow(x))) {
    reasons <- attr(x, "reasons")[[as.character(x$row[i])]]
    lines <- paste0(format(paste(reasons$column, reasons$value)), "  ", reasons$text)
    if (nrow(reasons) == 0L) {
      lines <- "no single column stands out"
    }
    if (nzchar(x$ordinary_with[i])) {
      lines <- c(lines, paste("ordinary with", x$ordinary_with[i]))
    }
    cat(paste0(c(lead[i], rep(blank, length(lines) - 1L)), "  ", lines), sep = "\n")
  }
  invisible(x)
}

#' @export
as.data.frame.lossdepth_outliers <- function(x, ...) {
  for (name in c("reasons", "rows", "fit", "columns")) {
    attr(x, name) <- NULL
  }
  class(x) <- "data.frame"
  x
}
