import { layOut, openDataDirectory, startChain } from "@agentos/sandbox"
import { rm } from "node:fs/promises"
import { join } from "node:path"

/** Creates the data of a first start of a sandbox in the directory given as the argument, and exits. */
const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error("the directory is missing")

/** The number that a sandbox creates. */
const WALLETS = 5

const data = await openDataDirectory(directory)
await layOut(data, { port: 0, servers: 1, wallets: WALLETS, databaseUrl: undefined })
// Each sandbox chooses its own port.
await rm(join(data.server, "port"))
await (await startChain({ dataDir: data.chain })).stop()
process.exit(0)
