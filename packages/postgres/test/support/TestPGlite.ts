import { layerPGlite } from "@agentos/postgres"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { copyDatabase } from "./copyDatabase.ts"
import { temporaryDirectory } from "./Program.ts"

/** An embedded database for one test, for tests of its use and not of how it is made; deleted at the end. */
export const layerTestPGlite = Layer.unwrap(
  Effect.gen(function* () {
    const directory = join(yield* temporaryDirectory, "database")
    yield* Effect.promise(() => copyDatabase(directory))
    return layerPGlite({ directory })
  })
)
