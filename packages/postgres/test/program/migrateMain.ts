// Makes and migrates an embedded database in the given directory, and exits.
import { layerPGlite } from "@agentos/postgres"
import { Effect, Layer } from "effect"

const [directory = ""] = process.argv.slice(2)

await Effect.runPromise(Effect.scoped(Layer.build(layerPGlite({ directory }))))
