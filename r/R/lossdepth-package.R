#' lossdepth: find, rank and explain odd rows
#'
#' For a row and a sample, train the best classifier of a family to separate the row from the sample; the risk that
#' remains is the *depth* of the row. Deep means central, shallow means outlying.
#'
#' [outliers()] lists the oddest rows of a data frame with reasons in words and needs no setting. [lossdepth()] fits a
#' depth to a reference sample, for [predict()][predict.lossdepth]. [depth.halfspace()] and its relatives take their
#' arguments in the order of the package ddalpha. [depth_methods()] and [depth_settings()] list what there is.
#'
#' All depths are between 0 and 1. How many threads are used is the option `lossdepth.threads`; by default all cores. No
#' result depends on it.
#'
#' @keywords internal
#' @useDynLib lossdepth, .registration = TRUE
#' @importFrom stats formula nobs predict
#' @importFrom graphics plot
#' @name lossdepth-package
#' @docType package
NULL
