// Makes an embedded database in the directory that it is given, migrates it, and ends.
import { layerPGlite } from "@agentos/postgres"
import { Effect, Layer } from "effect"

const [directory = ""] = process.argv.slice(2)

await Effect.runPromise(Effect.scoped(Layer.build(layerPGlite({ directory }))))
