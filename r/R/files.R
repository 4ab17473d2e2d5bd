#' Save and load models
#'
#' Model files are those of the Python package and the command line: a model that one of them wrote gives the same depths
#' to the last bit in the others, on the same machine. They are in the safetensors format: numbers and text, nothing that
#' could be executed. They hold the reference sample, so they are as confidential as that.
#'
#' A formula is not kept in the file, only the columns that it made.
#'
#' @param object A fit of [lossdepth()].
#' @param file The file, by convention with the ending `.safetensors`. It appears when it is complete, or not at all.
#' @return `save_model` returns `file`, invisibly; `load_model` an object of class `lossdepth`.
#' @examples
#' file <- tempfile(fileext = ".safetensors")
#' fit <- lossdepth(faithful, method = "svm", scale = "standard")
#' save_model(fit, file)
#' identical(predict(load_model(file)), predict(fit))
#' @export
save_model <- function(object, file) {
  if (!inherits(object, "lossdepth")) {
    fail("`object` must be a fit of lossdepth(), got ", class(object)[1L])
  }
  if (is.character(file) && length(file) == 1L) {
    file <- path.expand(file)
  }
  answer(.Call(wrap__native_write, file, object$bytes))
  invisible(file)
}

#' @rdname save_model
#' @export
load_model <- function(file) {
  if (!is.character(file) || length(file) != 1L || is.na(file)) {
    fail("`file` must be the name of a file")
  }
  if (!file.exists(file) || dir.exists(file)) {
    fail(file, ": no such file")
  }
  bytes <- readBin(file, "raw", file.size(file))
  model <- tryCatch(
    answer(.Call(wrap__native_from_bytes, bytes)),
    lossdepth_error = function(e) fail(file, ": ", conditionMessage(e))
  )
  about <- answer(.Call(wrap__native_about, model))
  missing <- if (is.null(about$encoding)) default_missing(about$method) else about$encoding$missing
  as_lossdepth(model, missing, NULL, bytes)
}
