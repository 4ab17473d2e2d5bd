#' Fit a depth to a reference sample
#'
#' Takes the rows of `x` for the reference that other rows are compared with. The rows are not scored yet:
#' [predict()][predict.lossdepth] does that.
#'
#' @param x A numeric matrix or a data frame. Columns of data frames may be numbers, factors, texts, truth values, dates
#'   and times; `NA` is a gap.
#' @param formula A formula without a left-hand side such as `~ price + region` or `~ . - id`.
#' @param data The data frame that the formula is about.
#' @param method Which depth: a name from [depth_methods()]. `"auto"` combines several and needs no settings.
#' @param ... Settings of the method by name, such as `reg` and `scale`: see [depth_settings()]. They are checked by
#'   the native code. `scale` is `"standard"` unless the depth is the same in any units; `"none"` takes columns as they
#'   are, with a warning where one varies more than 100 times as much as another.
#' @param weights Weights of the rows, not negative. A row of weight k counts as k rows.
#' @param preset Start from other settings than the defaults: `"recommended"`, `"paper"` or `"paper-code"`.
#' @param kinds What columns hold, as `c(zip = "category")`: `"number"`, `"category"`, `"boolean"`, `"date"`, or
#'   `"id"` and `"text"` for columns to leave out. By default the types of the columns decide.
#' @param missing What to do about gaps: `"compare"` compares a row on what it has, `"median"` fills with the median
#'   or the most frequent level, `"drop"` leaves rows with gaps out, `"error"` refuses them. `NULL` is `"compare"`, and
#'   `"error"` for the methods that take complete numbers only.
#' @param subset Which rows of `data` to use, as in [lm()].
#'
#' @return An object of class `lossdepth`. It can be saved with [saveRDS()], or with [save_model()] for Python and the
#'   command line; for that it holds the sample twice.
#'
#' @seealso [predict.lossdepth()], [plot.lossdepth()], [outliers()], [explain()]. `update()` fits again with other
#'   arguments, as in `update(fit, method = "svm")`.
#' @examples
#' fit <- lossdepth(iris[, 1:4], method = "logistic", reg = 0.1, scale = "standard")
#' fit
#' head(predict(fit))
#' predict(fit, data.frame(Sepal.Length = 6, Sepal.Width = 3, Petal.Length = 9, Petal.Width = 1))
#'
#' lossdepth(~ . - Sepal.Width, data = iris)
#' @export
lossdepth <- function(x, ...) {
  UseMethod("lossdepth")
}

#' @rdname lossdepth
#' @export
lossdepth.default <- function(x, method = "auto", ..., weights = NULL, preset = NULL, kinds = NULL, missing = NULL) {
  call <- match.call()
  call[[1L]] <- quote(lossdepth)
  fit_depth(x, method, list(...), weights, preset, kinds, missing, call)
}

#' @rdname lossdepth
#' @export
lossdepth.formula <- function(formula, data, method = "auto", ..., weights = NULL, preset = NULL, kinds = NULL,
                              missing = NULL, subset = NULL) {
  call <- match.call()
  call[[1L]] <- quote(lossdepth)
  if (length(formula) != 2L) {
    fail("the formula must have no left-hand side, as in ~ price + region")
  }
  terms <- stats::terms(formula, data = data)
  if (any(attr(terms, "order") > 1L)) {
    fail("the formula must have no interactions: ", paste(deparse(formula), collapse = " "))
  }
  rows <- eval(substitute(subset), data, environment(formula))
  weights <- eval(substitute(weights), data, environment(formula))
  if (!is.null(rows)) {
    if (is.logical(rows)) {
      rows <- rows & !is.na(rows)
    }
    data <- data[rows, , drop = FALSE]
    weights <- if (!is.null(weights)) weights[rows]
  }
  fit <- fit_depth(columns_of_terms(terms, data), method, list(...), weights, preset, kinds, missing, call)
  fit$terms <- terms
  fit
}

# The columns that a formula names. Gaps stay; variables that are only subtracted are not columns.
columns_of_terms <- function(terms, data) {
  labels <- attr(terms, "term.labels")
  if (length(labels) == 0L) {
    fail("the formula names no columns")
  }
  frame <- stats::model.frame(terms, data, na.action = stats::na.pass)
  labels <- sub("^`(.*)`$", "\\1", labels)
  as.data.frame(frame)[, labels, drop = FALSE]
}

# Methods that compare complete numbers only: gaps are refused unless something else is said.
default_missing <- function(method) {
  if (answer(.Call(wrap__native_method_name, method)) %in% complete_numbers_only) "error" else "compare"
}

complete_numbers_only <- c(
  "halfspace", "mahalanobis", "spatial", "projection", "zonoid", "simplicial", "l2", "potential"
)

fit_depth <- function(x, method, settings, weights, preset, kinds, missing, call, guess = FALSE) {
  given <- as_columns(x, kinds)
  if (length(settings) && (is.null(names(settings)) || !all(nzchar(names(settings))))) {
    fail("settings must have names, as in reg = 0.1")
  }
  if (is.null(missing)) {
    missing <- default_missing(method)
  }
  weights <- if (!is.null(weights)) as.double(weights)
  model <- answer(.Call(
    wrap__native_fit, given$columns, given$named, weights, method, settings, preset, given$kinds, missing, guess
  ))
  as_lossdepth(model, missing, call, answer(.Call(wrap__native_to_bytes, model)))
}

# The object for a model.
as_lossdepth <- function(model, missing, call, bytes) {
  about <- answer(.Call(wrap__native_about, model))
  if (!is.null(about$warning)) {
    warning(about$warning, call. = FALSE)
  }
  if (!is.null(about$spreads)) {
    warning(about$spreads, call. = FALSE)
  }
  state <- new.env(parent = emptyenv())
  state$model <- model
  structure(
    list(call = call, method = about$method, settings = about$settings, about = about, missing = missing,
         state = state, bytes = bytes),
    class = "lossdepth"
  )
}

#' @export
formula.lossdepth <- function(x, ...) {
  if (is.null(x$terms)) {
    fail("this depth was not fitted by a formula")
  }
  stats::formula(x$terms)
}

#' @export
nobs.lossdepth <- function(object, ...) {
  object$about$rows
}
