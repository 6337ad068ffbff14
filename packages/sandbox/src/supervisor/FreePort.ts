import { once } from "node:events"
import { createServer, type Server } from "node:net"
import { readFileIfExists, replaceFile } from "../shared/AtomicFile.ts"

/**
 * Outside the range of outgoing connections, one of which could take the port of a server while it restarts.
 */
const range = { first: 20_000, last: 31_999 }
/** More than one sandbox uses. */
const portsPerBlock = 40
const blockCount = (range.last - range.first + 1) / portsPerBlock

const listen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once("error", () => resolve(undefined))
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => resolve(server))
  })

/** Returns whether the port is free on the loopback address. */
export const isPortFree = async (port: number): Promise<boolean> => {
  const probe = await listen(port)
  if (probe === undefined) return false
  probe.close()
  await once(probe, "close")
  return true
}

/** The blocks of ports that this process has claimed, and the ports that it has selected. */
const claimed = new Set<number>()
const selected = new Set<number>()

/**
 * Claims a block of ports for this process, which then listens on the last one for as long as it runs. So no two processes
 * select a port of one block, although a port is opened only later, and closed while its server restarts.
 */
const claim = async (block: number): Promise<boolean> => {
  if (claimed.has(block)) return true
  const lock = await listen(range.first + (block + 1) * portsPerBlock - 1)
  if (lock === undefined) return false
  lock.unref()
  claimed.add(block)
  return true
}

/** Adds free ports that this process has not selected before, until there are `count`. */
const search = async (
  ports: Array<number>,
  count: number,
  except: ReadonlyArray<number>,
  pid: number
): Promise<void> => {
  for (let index = 0; index < blockCount && ports.length < count; index++) {
    const block = (pid + index) % blockCount
    if (!(await claim(block))) continue
    const first = range.first + block * portsPerBlock
    for (let port = first; port < first + portsPerBlock - 1 && ports.length < count; port++) {
      if (selected.has(port) || except.includes(port)) continue
      selected.add(port)
      if (await isPortFree(port)) ports.push(port)
    }
  }
}

/** Finds different free ports that are not in `except`. Repeats one only after it has selected all others. */
export const findFreePorts = async (
  count: number,
  except: ReadonlyArray<number> = [],
  { pid }: { readonly pid: number } = process
): Promise<ReadonlyArray<number>> => {
  const ports: Array<number> = []
  await search(ports, count, except, pid)
  if (ports.length < count) {
    selected.clear()
    await search(ports, count, [...except, ...ports], pid)
  }
  if (ports.length < count) throw new Error(`No free ports between ${range.first} and ${range.last}`)
  return ports
}

/** How many ports after the wanted one are tried. */
const nextPortsMax = 100

export const nextFreePort = async (first: number): Promise<number> => {
  for (let port = first; port < first + nextPortsMax; port++) if (await isPortFree(port)) return port
  throw new Error(`No free port between ${first} and ${first + nextPortsMax - 1}`)
}

const isUsable = async (port: number, except: ReadonlyArray<number>): Promise<boolean> => {
  if (!(port >= range.first && port <= range.last) || except.includes(port)) return false
  await claim(Math.floor((port - range.first) / portsPerBlock))
  selected.add(port)
  return isPortFree(port)
}

/**
 * Returns a port for each name: the one in the JSON file if it is still free, otherwise another one, which is written to
 * the file. So clients that stored the addresses of a sandbox can use them after a restart.
 */
export const reusePorts = async <const Name extends string>(
  path: string,
  names: ReadonlyArray<Name>,
  except: ReadonlyArray<number>
): Promise<Readonly<Record<Name, number>>> => {
  const previous = readPorts((await readFileIfExists(path))?.toString() ?? "")
  const ports = new Map<string, number>()
  for (const name of names) {
    const port = previous[name] ?? 0
    if (await isUsable(port, [...except, ...ports.values()])) ports.set(name, port)
  }
  const missing = names.filter((name) => !ports.has(name))
  const found = await findFreePorts(missing.length, [...except, ...ports.values()])
  for (const [index, name] of missing.entries()) ports.set(name, found[index]!)
  const chosen = Object.fromEntries(ports) as Record<Name, number>
  if (missing.length > 0)
    await replaceFile(path, `${JSON.stringify({ ...previous, ...chosen }, undefined, 2)}\n`, 0o600)
  return chosen
}

/** A file that is damaged has no ports. */
const readPorts = (text: string): Readonly<Record<string, number>> => {
  try {
    const value: unknown = JSON.parse(text)
    return Object.fromEntries(
      Object.entries(value ?? {}).filter((entry): entry is [string, number] => Number.isInteger(entry[1]))
    )
  } catch {
    return {}
  }
}

/**
 * Returns the port in a file if it is still free. Otherwise selects another one and writes it to the file. For addresses
 * that others store, which should not change between starts.
 */
export const reusePort = async (path: string, except: ReadonlyArray<number>): Promise<number> => {
  const previous = Number((await readFileIfExists(path))?.toString())
  if (await isUsable(previous, except)) return previous
  const [port = 0] = await findFreePorts(1, except)
  await replaceFile(path, String(port), 0o600)
  return port
}
