import { PGlite } from "@electric-sql/pglite"

/**
 * Makes an empty embedded database in the directory that is the argument, and ends.
 *
 * A process of its own: making one takes some hundred megabytes that WebAssembly
 * never gives back, and a server that lives for months should not carry them.
 */
const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error("the directory is missing")
const database = await PGlite.create(directory)
await database.close()
