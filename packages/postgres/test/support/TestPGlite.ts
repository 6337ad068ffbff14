import { layerPGlite } from "@agentos/postgres"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { copyDatabase } from "./copyDatabase.ts"
import { temporaryDirectory } from "./Program.ts"

/** An embedded database of the test's own, gone at its end: for what is done in it, not for how it is made. */
export const layerTestPGlite = Layer.unwrap(
  Effect.gen(function* () {
    const directory = join(yield* temporaryDirectory, "database")
    yield* Effect.promise(() => copyDatabase(directory))
    return layerPGlite({ directory })
  })
)
