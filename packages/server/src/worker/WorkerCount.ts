import { availableParallelism } from "node:os"

/** More processes than any machine has cores. */
const WORKERS_MAX = 256

/** The rule of the setting, which continues its name. */
export const WORKERS_RULE = `must be auto, or a whole number from 1 to ${WORKERS_MAX}`

/** Returns the number of workers that a setting names, or undefined if it is not valid. `auto` is one for each core. */
export const workersOf = (setting: string): number | undefined => {
  const text = setting.trim()
  if (text === "auto") return Math.min(availableParallelism(), WORKERS_MAX)
  const count = Number(text)
  return /^\d+$/.test(text) && count >= 1 && count <= WORKERS_MAX ? count : undefined
}
