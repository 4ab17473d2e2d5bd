#' A page about the oddest rows
#'
#' Writes one HTML file that needs no network: the distribution of depths with a threshold to move, the oddest rows with
#' their reasons, their values beside those of the other rows, a map, what was noticed about the data, and how it was
#' computed. The same table with the same names of rows gives the same bytes here and in Python; rows without names are
#' counted from 1 here.
#'
#' @param x A data frame or matrix, or a fit of [lossdepth()] that `newdata` is compared with.
#' @param file The file to write, by convention with the ending `.html`; it appears when it is complete, or not at all.
#'   `NULL` writes none.
#' @param top How many rows to show.
#' @param title The heading of the page; `NULL` for "Odd rows in" and the name.
#' @param mask Columns whose values are not written; they are compared all the same.
#' @param name,reference_name What the page calls the table and the reference.
#' @param reference The rows to compare with; by default `x` itself. The page then says what changed.
#' @param newdata Rows to compare with the reference of the fit.
#' @param method,weights,preset,kinds,missing,... As in [outliers()].
#' @return An object of class `lossdepth_report`, invisibly where a file is written: a list of `html`, the page, and
#'   `rows`, how many rows were scored.
#' @examples
#' page <- report(mtcars, top = 5, title = "Cars")
#' page
#' @export
report <- function(x, ...) {
  UseMethod("report")
}

#' @rdname report
#' @export
report.default <- function(x, file = NULL, top = 50, title = NULL, mask = NULL, name = "the table", reference = NULL,
                           reference_name = "the reference", method = "auto", ..., weights = NULL, preset = NULL,
                           kinds = NULL, missing = "compare") {
  own <- is.null(reference)
  given <- as_columns(x, kinds)
  sample <- if (own) given else as_columns(reference, kinds, "reference")
  fit <- fit_depth(if (own) x else reference, method, list(...), weights, preset, kinds, missing, NULL, guess = TRUE)
  about <- list(name = name, reference_name = reference_name, columns = length(sample$columns), title = title)
  page_of(fit, given, if (!own) sample, x, own, weights, top, mask, about, file)
}

#' @rdname report
#' @export
report.lossdepth <- function(x, newdata, file = NULL, top = 50, title = NULL, mask = NULL, name = "the table",
                             reference_name = "the reference", ...) {
  about <- list(name = name, reference_name = reference_name, columns = x$about$columns, title = title)
  page_of(x, new_columns(x, newdata), NULL, newdata, FALSE, NULL, top, mask, about, file)
}

page_of <- function(fit, given, reference, x, own, weights, top, mask, about, file) {
  unknown <- setdiff(mask, c(given$names, reference$names))
  if (length(unknown)) {
    # A typing error would show what should be hidden.
    fail("`mask` names a column that is not there: ", unknown[1L])
  }
  about$mask <- as.character(mask)
  labels <- row_labels(x)
  about$row_names <- if (is.null(labels)) paste("row", seq_len(given$rows)) else labels
  weights <- if (!is.null(weights)) as.double(weights)
  made <- answer(.Call(
    wrap__native_report, pointer(fit), given$columns, reference$columns, fit$missing, own, if (own) weights, top,
    threads_to_use(), about
  ))
  page <- structure(list(html = made$html, rows = made$rows), class = "lossdepth_report")
  if (made$unconverged > 0) {
    warning(made$unconverged, " of ", made$rows, " depths are less exact than asked for; the page says so", call. = FALSE)
  }
  if (is.null(file)) {
    return(page)
  }
  answer(.Call(wrap__native_write, path.expand(file), charToRaw(made$html)))
  invisible(page)
}

#' @export
print.lossdepth_report <- function(x, ...) {
  cat("A page about ", counted(x$rows, "row"), "; report(..., file = \"page.html\") writes it\n", sep = "")
  invisible(x)
}
