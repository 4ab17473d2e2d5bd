#' Methods and their settings
#'
#' @param method A method, by any of its names.
#' @return `depth_methods()`: a data frame of the methods, with title, summary and other names. `depth_settings()`: a data
#'   frame of the settings of a method, with default, names to choose from, and help.
#' @examples
#' depth_methods()[, c("method", "title")]
#' depth_settings("svm")[, c("setting", "default")]
#' @export
depth_methods <- function() {
  methods <- .Call(wrap__native_methods)
  field <- function(name) unname(vapply(methods, function(m) paste(m[[name]], collapse = ", "), ""))
  data.frame(method = names(methods), title = field("title"), summary = field("summary"), aliases = field("aliases"))
}

#' @rdname depth_methods
#' @export
depth_settings <- function(method = "auto") {
  about <- .Call(wrap__native_methods)[[answer(.Call(wrap__native_method_name, method))]]
  value <- function(v) if (is.null(v)) "NULL" else paste(v, collapse = " ")
  data.frame(setting = names(about$defaults), default = unname(vapply(about$defaults, value, "")),
             choices = about$choices, help = about$help)
}
