import type { Profiler } from "node:inspector"
import { readFileSync } from "node:fs"

/** The flag that lets a process be profiled from outside, on a port that is free. */
export const INSPECTED = "--inspect=127.0.0.1:0"

const SAMPLE_EVERY_MICROS = 200

/** Returns the URL at which a process can be inspected, once its log has it. */
export const inspectorUrl = (log: string): string | undefined =>
  /listening on (ws:\/\/\S+)/.exec(readFileSync(log, "utf8"))?.[1]

/** A connection to the inspector of another process, which speaks the DevTools protocol. */
export interface Inspector {
  readonly ask: (method: string, params?: object) => Promise<unknown>
  readonly close: () => void
}

export const openInspector = async (url: string): Promise<Inspector> => {
  const socket = new WebSocket(url)
  const failed = new Promise<never>((_, reject) => {
    socket.addEventListener("error", () => reject(new Error("the inspector closed its connection")))
  })
  const opened = new Promise((resolve) => socket.addEventListener("open", resolve))
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown }
    if (id === undefined) return
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  let last = 0
  const ask = (method: string, params: object = {}): Promise<unknown> => {
    const id = ++last
    const answered = new Promise((resolve) => void waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    return Promise.race([answered, failed])
  }
  await Promise.race([opened, failed])
  return { ask, close: () => socket.close() }
}

/** Profiles the processor time of an inspected process while it works. `log` is the path of its log. */
export const profileWhile = async (log: string, work: () => Promise<unknown>): Promise<Profiler.Profile> => {
  const url = inspectorUrl(log)
  if (url === undefined) throw new Error("the process cannot be inspected")
  const { ask, close } = await openInspector(url)
  try {
    await ask("Profiler.enable")
    await ask("Profiler.setSamplingInterval", { interval: SAMPLE_EVERY_MICROS })
    await ask("Profiler.start")
    await work()
    return ((await ask("Profiler.stop")) as { readonly profile: Profiler.Profile }).profile
  } finally {
    close()
  }
}
