import { createServer } from "node:net"
import { readFileIfExists, replaceFile } from "../shared/AtomicFile.ts"

/**
 * Outside the range of outgoing connections, one of which could take the port of a server while it restarts.
 */
const range = { first: 20_000, last: 31_999 }
const rangeSize = range.last - range.first + 1
/** More than one sandbox uses. */
const portsPerProcess = 40
const attempts = 400

/** Returns whether the port is free on the loopback address. */
export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => probe.close(() => resolve(true)))
  })

/**
 * Finds different free ports that are not in `except`. The caller opens them later, so each process searches another part
 * of the range: two that start at the same time do not choose the same ports.
 */
export const findFreePorts = async (
  count: number,
  except: ReadonlyArray<number> = [],
  { pid }: { readonly pid: number } = process
): Promise<ReadonlyArray<number>> => {
  const ports: Array<number> = []
  for (let attempt = 0; attempt < attempts && ports.length < count; attempt++) {
    const port = range.first + ((pid * portsPerProcess + attempt) % rangeSize)
    if (!except.includes(port) && (await isPortFree(port))) ports.push(port)
  }
  if (ports.length < count) throw new Error(`No free ports between ${range.first} and ${range.last}`)
  return ports
}

/**
 * Returns the port in a file if it is still free. Otherwise selects another one and writes it to the file. For addresses
 * that others store, which should not change between starts.
 */
export const reusePort = async (path: string, except: ReadonlyArray<number>): Promise<number> => {
  const previous = Number((await readFileIfExists(path))?.toString())
  const isUsable = previous >= range.first && previous <= range.last && !except.includes(previous)
  if (isUsable && (await isPortFree(previous))) return previous
  const [port = 0] = await findFreePorts(1, except)
  await replaceFile(path, String(port), 0o600)
  return port
}
