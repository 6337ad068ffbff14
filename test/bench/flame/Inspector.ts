import type { Profiler } from "node:inspector"
import { readFileSync } from "node:fs"

/** The flag that lets a process be profiled from outside, on a port that is free. */
export const INSPECTED = "--inspect=127.0.0.1:0"

const SAMPLE_EVERY_MICROS = 200

/** Reads the URL at which a process with that flag can be inspected, from its log. */
const inspectorUrl = (log: string): string => {
  const [url] = /ws:\/\/\S+/.exec(readFileSync(log, "utf8")) ?? []
  if (url === undefined) throw new Error("the process cannot be inspected")
  return url
}

/** Profiles the processor time of an inspected process while it works. `log` is the path of its log. */
export const profileWhile = async (log: string, work: () => Promise<unknown>): Promise<Profiler.Profile> => {
  const socket = new WebSocket(inspectorUrl(log))
  const failed = new Promise<never>((_, reject) => {
    socket.addEventListener("error", () => reject(new Error("the inspector closed its connection")))
  })
  const opened = new Promise((resolve) => socket.addEventListener("open", resolve))
  let last = 0
  const ask = (method: string, params: object = {}): Promise<unknown> => {
    const id = ++last
    const answered = new Promise((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        const message = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown }
        if (message.id === id) resolve(message.result)
      })
    })
    socket.send(JSON.stringify({ id, method, params }))
    return Promise.race([answered, failed])
  }
  await Promise.race([opened, failed])
  try {
    await ask("Profiler.enable")
    await ask("Profiler.setSamplingInterval", { interval: SAMPLE_EVERY_MICROS })
    await ask("Profiler.start")
    await work()
    return ((await ask("Profiler.stop")) as { readonly profile: Profiler.Profile }).profile
  } finally {
    socket.close()
  }
}
