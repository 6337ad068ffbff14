import { Effect } from "effect"
import { execFile } from "node:child_process"
import { log } from "./ProgramOutput.ts"

/**
 * systemd's own program, because Node has no datagram sockets of Unix. It waits until systemd has read the message, so that
 * systemd still finds the process that sent it.
 */
const PROGRAM = "systemd-notify"
const SENT_WITHIN = 10_000
const MICROS_PER_MILLI = 1_000
/** With `WatchdogSec=60`, a blocked event loop has the time to log its stack before systemd ends the process. */
const BEATS_PER_TIMEOUT = 4

let hasFailed = false

const warn = (error: Error): void => {
  if (hasFailed) return
  hasFailed = true
  const entry = Effect.logWarning(
    `${PROGRAM} failed, so systemd does not know the state of this server. Install Debian's package systemd, or use Type=exec ` +
      `without WatchdogSec: ${error.message}`
  )
  Effect.runSync(Effect.provide(entry, log))
}

const notify = (state: string): void => {
  if (process.env["NOTIFY_SOCKET"] === undefined) return
  execFile(PROGRAM, [state], { timeout: SENT_WITHIN }, (error) => error !== null && warn(error))
}

/** Tells systemd that this server serves (sd_notify(3)), and from then on that its event loop turns. */
export const reportReady = (): void => {
  notify("READY=1")
  const timeout = Number(process.env["WATCHDOG_USEC"] ?? "0") / MICROS_PER_MILLI
  if (timeout > 0) setInterval(notify, timeout / BEATS_PER_TIMEOUT, "WATCHDOG=1").unref()
}

/** Tells systemd that this server stops. */
export const reportStopping = (): void => notify("STOPPING=1")
