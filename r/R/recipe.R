#' A recipes step that adds depths
#'
#' For the package recipes: adds a column with the depth of each row in the training set.
#'
#' @param recipe A recipe.
#' @param ... Selectors of the columns to compare, as in `recipes::all_numeric_predictors()`.
#' @param method,settings The depth, and a list of its settings, as in [lossdepth()].
#' @param name The name of the new column.
#' @param role,trained,skip,id As in other steps of recipes.
#' @param fit The fitted depth; made by `recipes::prep()`.
#' @return The recipe with the step added.
#' @examplesIf requireNamespace("recipes", quietly = TRUE)
#' recipe <- recipes::recipe(Species ~ ., data = iris) |>
#'   step_lossdepth(recipes::all_numeric_predictors(), method = "spatial") |>
#'   recipes::prep()
#' head(recipes::bake(recipe, new_data = iris))
#' @export
step_lossdepth <- function(recipe, ..., method = "auto", settings = list(), name = "depth", role = "predictor",
                           trained = FALSE, skip = FALSE, id = recipes::rand_id("lossdepth"), fit = NULL) {
  recipes::add_step(recipe, recipes::step(
    subclass = "lossdepth", terms = rlang::enquos(...), method = method, settings = settings, name = name, role = role,
    trained = trained, skip = skip, id = id, fit = fit
  ))
}

#' @exportS3Method recipes::prep
prep.step_lossdepth <- function(x, training, info = NULL, ...) {
  columns <- unname(recipes::recipes_eval_select(x$terms, training, info))
  x$fit <- do.call(lossdepth.default, c(list(as.data.frame(training)[columns], x$method), x$settings))
  x$trained <- TRUE
  x
}

#' @exportS3Method recipes::bake
bake.step_lossdepth <- function(object, new_data, ...) {
  if (object$name %in% names(new_data)) {
    fail("the data has a column `", object$name, "` already; `name` gives the depth another name")
  }
  new_data[[object$name]] <- unname(predict.lossdepth(object$fit, as.data.frame(new_data)))
  new_data
}

#' @export
print.step_lossdepth <- function(x, ...) {
  of <- if (x$trained) x$fit$about$names else recipes::sel2char(x$terms)
  cat("Depth (", x$method, ") of ", paste(of, collapse = ", "), if (x$trained) " [trained]", "\n", sep = "")
  invisible(x)
}

#' @exportS3Method recipes::tidy
tidy.step_lossdepth <- function(x, ...) {
  terms <- if (x$trained) x$fit$about$names else recipes::sel2char(x$terms)
  data.frame(terms = terms, method = x$method, id = x$id)
}

#' @exportS3Method recipes::required_pkgs
required_pkgs.step_lossdepth <- function(x, ...) {
  "lossdepth"
}
