import { layOut, openDataDirectory, startChain } from "@agentos/sandbox"
import { rm } from "node:fs/promises"
import { join } from "node:path"

/** Makes, in the directory that is the argument, what the first start of a sandbox leaves there, and ends. */
const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error("the directory is missing")

/** As many as a sandbox has. */
const WALLETS = 5

const data = await openDataDirectory(directory)
await layOut(data, { port: 0, servers: 1, wallets: WALLETS, databaseUrl: undefined })
// A port is one sandbox's own.
await rm(join(data.server, "port"))
await (await startChain({ dataDir: data.chain })).stop()
process.exit(0)
