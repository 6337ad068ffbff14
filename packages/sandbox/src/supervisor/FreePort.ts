import { randomInt } from "node:crypto"
import { createServer } from "node:net"
import { readFileIfAny, replaceFile } from "../chain/AtomicFile.ts"

/**
 * Ports that systems give to nobody by themselves. A port out of the range of outgoing connections could be lost to
 * one of them in the moment in which a server is started again.
 */
const range = { first: 20_000, last: 31_999 }
const attempts = 100

/** Whether this machine's loopback address has the port free. */
export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => probe.close(() => resolve(true)))
  })

/** Finds so many different ports that are free now, and not one that somebody else is meant to have. */
export const findFreePorts = async (
  count: number,
  except: ReadonlyArray<number> = []
): Promise<ReadonlyArray<number>> => {
  const ports = new Set<number>()
  for (let attempt = 0; attempt < attempts && ports.size < count; attempt++) {
    const port = randomInt(range.first, range.last + 1)
    if (!except.includes(port) && (await isPortFree(port))) ports.add(port)
  }
  if (ports.size < count) throw new Error(`No free ports between ${range.first} and ${range.last}`)
  return [...ports]
}

/**
 * The port that a file names, if it is still free; another one, which the file names from now on, if it is not. For an
 * address that others have written down, and that should be the same at the next start.
 */
export const keepPort = async (path: string, except: ReadonlyArray<number>): Promise<number> => {
  const kept = Number((await readFileIfAny(path))?.toString())
  const isUsable = kept >= range.first && kept <= range.last && !except.includes(kept)
  if (isUsable && (await isPortFree(kept))) return kept
  const [port = 0] = await findFreePorts(1, except)
  await replaceFile(path, String(port), 0o600)
  return port
}
