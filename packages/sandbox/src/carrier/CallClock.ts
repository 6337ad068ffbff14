/** The time that calls live in: it passes faster than outside by a factor that can be changed while they last. */
export interface CallClock {
  /** Milliseconds of calls since the clock was made. */
  readonly now: () => number
  readonly speed: () => number
  /** Everything that is still to come comes so much faster from now on. */
  readonly setSpeed: (speed: number) => void
  /**
   * Calls back once so many seconds of calls have passed, with the moment at which that was due (a timer is always a
   * little late, which a high speed makes much of). Answers how to call it off.
   */
  readonly after: (seconds: number, action: (due: number) => void) => () => void
  /** The same for a moment, which may be past. */
  readonly at: (moment: number, action: (due: number) => void) => () => void
  /** Resolves after so many seconds of calls, or at once when the signal is aborted. Never rejects. */
  readonly sleep: (seconds: number, signal: AbortSignal) => Promise<void>
  /** Nothing that is still to come will come. */
  readonly stop: () => void
}

interface Alarm {
  readonly due: number
  readonly action: (due: number) => void
  timer: NodeJS.Timeout | undefined
}

/** Node's longest timer. What is due later is looked at again by then. */
const timerMillisMax = 2 ** 31 - 1

/** A clock whose time passes as fast as everybody's, unless told. */
export const makeCallClock = (initialSpeed = 1): CallClock => {
  const alarms = new Set<Alarm>()
  let speed = initialSpeed
  let since = { outside: performance.now(), inside: 0 }

  const now = () => since.inside + (performance.now() - since.outside) * speed
  const arm = (alarm: Alarm): void => {
    const millis = Math.max(0, (alarm.due - now()) / speed)
    alarm.timer = setTimeout(
      () => {
        // Node's timers come up to a millisecond early, too.
        if (now() < alarm.due) return arm(alarm)
        alarms.delete(alarm)
        alarm.action(alarm.due)
      },
      Math.min(millis, timerMillisMax)
    )
  }
  const cancel = (alarm: Alarm): void => {
    clearTimeout(alarm.timer)
    alarms.delete(alarm)
  }
  const at: CallClock["at"] = (moment, action) => {
    const alarm: Alarm = { due: moment, action, timer: undefined }
    alarms.add(alarm)
    arm(alarm)
    return () => cancel(alarm)
  }
  const after: CallClock["after"] = (seconds, action) => at(now() + seconds * 1_000, action)
  return {
    now,
    speed: () => speed,
    setSpeed: (next) => {
      since = { outside: performance.now(), inside: now() }
      speed = next
      for (const alarm of alarms) {
        clearTimeout(alarm.timer)
        arm(alarm)
      }
    },
    after,
    at,
    sleep: (seconds, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const callOff = after(seconds, () => {
          signal.removeEventListener("abort", stop)
          resolve()
        })
        const stop = () => {
          callOff()
          resolve()
        }
        signal.addEventListener("abort", stop, { once: true })
      }),
    stop: () => alarms.forEach(cancel)
  }
}
