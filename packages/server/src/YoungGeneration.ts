import { setFlagsFromString } from "node:v8"

/**
 * Keeps V8's young generation at its initial 1 MiB per half. By default it grows to 64 MiB per half under load, most of
 * it garbage. V8 reads this factor at each growth, so it needs no option of the command line and no second process.
 * Imported before any other module, because the generation also grows while modules are evaluated.
 */
setFlagsFromString("--semi-space-growth-factor=1")
