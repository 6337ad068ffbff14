import { PGlite } from "@electric-sql/pglite"

/**
 * Makes an empty embedded database in the directory given as the argument, and exits.
 *
 * It is a process of its own: making a database takes several hundred megabytes that WebAssembly never returns
 * to the system, too much for a server that runs for months.
 */
const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error("the directory is missing")
void PGlite.create(directory).then((database) => database.close())
