import { createServer } from "node:net"
import { readFileIfAny, replaceFile } from "../chain/AtomicFile.ts"

/**
 * Ports that systems give to nobody by themselves. A port out of the range of outgoing connections could be lost to
 * one of them in the moment in which a server is started again.
 */
const range = { first: 20_000, last: 31_999 }
const places = range.last - range.first + 1
/** More than one sandbox takes. */
const placesEach = 40
const attempts = 400

/** Whether this machine's loopback address has the port free. */
export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => probe.close(() => resolve(true)))
  })

/**
 * Finds so many different ports that are free now, and not one that somebody else is meant to have. They are in use only
 * a moment later, so every process looks in a place of its own: two that start at one time do not take the same.
 */
export const findFreePorts = async (
  count: number,
  except: ReadonlyArray<number> = [],
  { pid }: { readonly pid: number } = process
): Promise<ReadonlyArray<number>> => {
  const ports: Array<number> = []
  for (let attempt = 0; attempt < attempts && ports.length < count; attempt++) {
    const port = range.first + ((pid * placesEach + attempt) % places)
    if (!except.includes(port) && (await isPortFree(port))) ports.push(port)
  }
  if (ports.length < count) throw new Error(`No free ports between ${range.first} and ${range.last}`)
  return ports
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
