/** The clock of calls. It runs faster than real time by a factor that can change during calls. */
export type CallClock = ReturnType<typeof makeCallClock>

interface ClockTimer {
  readonly due: number
  readonly action: (due: number) => void
  timeout: NodeJS.Timeout | undefined
}

/** The maximum of Node's timers. A longer timer is set again when it fires. */
const timeoutMillisMax = 2 ** 31 - 1

export const makeCallClock = (initialSpeed = 1) => {
  const timers = new Set<ClockTimer>()
  let speed = initialSpeed
  /** The real time and the time on this clock at the last change of speed. */
  let origin = { real: performance.now(), simulated: 0 }

  /** Milliseconds on this clock since it was created. */
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
  /**
   * Calls back at a time on this clock, which can be in the past. The callback receives the time at which it was due, because
   * a timer is always a little late, which a high speed multiplies. Returns a function that cancels the timer.
   */
  const at = (time: number, action: (due: number) => void) => {
    const timer: ClockTimer = { due: time, action, timeout: undefined }
    timers.add(timer)
    schedule(timer)
    return () => cancel(timer)
  }
  const after = (seconds: number, action: (due: number) => void) => at(now() + seconds * 1_000, action)
  return {
    now,
    speed: () => speed,
    /** Also applies to timers that are already set. */
    setSpeed: (next: number): void => {
      origin = { real: performance.now(), simulated: now() }
      speed = next
      for (const timer of timers) {
        clearTimeout(timer.timeout)
        schedule(timer)
      }
    },
    after,
    at,
    /** Resolves after the given time on this clock, or at once if the signal is aborted. Never rejects. */
    sleep: (seconds: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
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
    /** Cancels all timers. */
    stop: () => timers.forEach(cancel)
  }
}
