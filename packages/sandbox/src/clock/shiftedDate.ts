import { statSync } from "node:fs"
import { readOffset } from "../shared/ClockFile.ts"

/**
 * Preloaded into the processes of a sandbox (`--import`): shifts the time of `Date` by the offset in a clock file, whose
 * path is the parameter `file` of this module's URL. Timers keep the pace of this machine.
 */

/** How long a process may show the time from before a move. */
export const SHIFTED_WITHIN_MILLIS = 20

const installShiftedDate = (file: string): void => {
  const RealDate = Date
  const realNow = RealDate.now.bind(RealDate)
  let offset = 0
  let changedAt = 0
  let checkedAt = Number.NEGATIVE_INFINITY
  const now = (): number => {
    const at = performance.now()
    if (at - checkedAt >= SHIFTED_WITHIN_MILLIS) {
      checkedAt = at
      const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
      if (changed !== changedAt) {
        changedAt = changed
        offset = readOffset(file)
      }
    }
    return realNow() + offset
  }
  RealDate.now = now
  globalThis.Date = new Proxy(RealDate, {
    apply: () => new RealDate(now()).toString(),
    construct: (target, args, newTarget) =>
      Reflect.construct(
        target,
        args.length === 0 ? [now()] : args,
        newTarget === globalThis.Date ? target : newTarget
      ) as Date
  })
}

const file = new URL(import.meta.url).searchParams.get("file")
if (file !== null) installShiftedDate(file)

/** Returns the URL of the module that shifts the time of a process by a clock file. */
export const clockModule = (clockFile: string): string => {
  const url = new URL(import.meta.url)
  url.searchParams.set("file", clockFile)
  return url.href
}
