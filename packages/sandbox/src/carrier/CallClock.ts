/** The clock of calls. It runs faster than real time by a factor that can change during calls. */
export interface CallClock {
  /** Milliseconds on this clock since it was created. */
  readonly now: () => number
  readonly speed: () => number
  /** Also applies to timers that are already set. */
  readonly setSpeed: (speed: number) => void
  /**
   * Calls back after the given time on this clock. The callback receives the time at which it was due, because a timer is
   * always a little late, which a high speed multiplies. Returns a function that cancels the timer.
   */
  readonly after: (seconds: number, action: (due: number) => void) => () => void
  /** Like `after`, for a time on this clock, which can be in the past. */
  readonly at: (time: number, action: (due: number) => void) => () => void
  /** Resolves after the given time on this clock, or at once if the signal is aborted. Never rejects. */
  readonly sleep: (seconds: number, signal: AbortSignal) => Promise<void>
  /** Cancels all timers. */
  readonly stop: () => void
}

interface ClockTimer {
  readonly due: number
  readonly action: (due: number) => void
  timeout: NodeJS.Timeout | undefined
}

/** The maximum of Node's timers. A longer timer is set again when it fires. */
const timeoutMillisMax = 2 ** 31 - 1

export const makeCallClock = (initialSpeed = 1): CallClock => {
  const timers = new Set<ClockTimer>()
  let speed = initialSpeed
  /** The real time and the time on this clock at the last change of speed. */
  let origin = { real: performance.now(), simulated: 0 }

  const now = () => origin.simulated + (performance.now() - origin.real) * speed
  const schedule = (timer: ClockTimer): void => {
    const millis = Math.max(0, (timer.due - now()) / speed)
    timer.timeout = setTimeout(
      () => {
        // Node's timers can also fire up to a millisecond early.
        if (now() < timer.due) return schedule(timer)
        timers.delete(timer)
        timer.action(timer.due)
      },
      Math.min(millis, timeoutMillisMax)
    )
  }
  const cancel = (timer: ClockTimer): void => {
    clearTimeout(timer.timeout)
    timers.delete(timer)
  }
  const at: CallClock["at"] = (time, action) => {
    const timer: ClockTimer = { due: time, action, timeout: undefined }
    timers.add(timer)
    schedule(timer)
    return () => cancel(timer)
  }
  const after: CallClock["after"] = (seconds, action) => at(now() + seconds * 1_000, action)
  return {
    now,
    speed: () => speed,
    setSpeed: (next) => {
      origin = { real: performance.now(), simulated: now() }
      speed = next
      for (const timer of timers) {
        clearTimeout(timer.timeout)
        schedule(timer)
      }
    },
    after,
    at,
    sleep: (seconds, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const cancelTimer = after(seconds, () => {
          signal.removeEventListener("abort", abort)
          resolve()
        })
        const abort = () => {
          cancelTimer()
          resolve()
        }
        signal.addEventListener("abort", abort, { once: true })
      }),
    stop: () => timers.forEach(cancel)
  }
}
