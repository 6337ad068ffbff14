import { quantile } from "../bench/Bench.ts"
import { type EventCases, indexEvents, type Lease } from "../faults/observation/EventHistory.ts"
import { SHORT_LEASE_MILLIS } from "../faults/server/TestServer.ts"
import { countOvertaken } from "../faults/verdict/EventInvariants.ts"
import { tally } from "../faults/verdict/Report.ts"
import type { ChaosResult } from "./ChaosRun.ts"

/** The figures of a run, line by line. */
export const figuresOf = (result: ChaosResult): ReadonlyArray<string> => {
  const { closes, faults, history } = result
  const cases = indexEvents(history)
  const { acknowledgements, appends, frames, sessions } = history
  const events = cases.all.length
  const firstAt = earliest(appends.map(({ calledAt }) => calledAt))
  const acknowledgedAt = cases.all.flatMap(({ acknowledged }) => acknowledged?.at ?? [])
  const seconds = (latest(acknowledgedAt) - firstAt) / 1_000
  const leases = cases.all.flatMap((each) => each.leases)
  const count = <A>(all: ReadonlyArray<A>, is: (one: A) => boolean): number => all.filter(is).length
  return [
    `${events} events stored and acknowledged in ${seconds.toFixed(0)} s: ${(events / seconds).toFixed(0)} per second`,
    `${faults.length} faults: ${tally(faults.map(({ kind }) => kind))}`,
    `${sessions.length} sessions; closed with ${[...closes].map(([code, times]) => `${code}: ${times}`).join(", ")}`,
    `${leases.length} leases, ${leases.length - events} of them repeated: ${count(leases, ({ end }) => end === "taken")} expired ` +
      `(${countUnrenewed(leases, result)} at servers without a fault), ` +
      `${count(leases, ({ end }) => end === "released")} were released; ${frames.length} deliveries arrived`,
    `${acknowledgements.length} acknowledgements: ${tally(acknowledgements.map(({ answer }) => answer ?? "unanswered"))}; ` +
      `${count(acknowledgements, ({ sessionId }) => sessionId === undefined)} by REST`,
    `${history.rolledBack.length} transactions were rolled back; ${countOvertaken(cases)} events were late because of that`,
    `from createdAt to acknowledged: ${quantilesOf(cases)}`,
    `the last acknowledgement ${(slowestMillis(cases, latest(faults.map(({ to }) => to))) / 1_000).toFixed(1)} s ` +
      "after the last fault, or after its event if that is later"
  ]
}

/** Leases that expired although their session was open and its server had no fault for the duration of a lease. */
const countUnrenewed = (leases: ReadonlyArray<Lease>, { faults, history }: ChaosResult): number => {
  const sessions = new Map(history.sessions.map((session) => [session.sessionId, session]))
  return leases.filter(({ end, sessionId, until }) => {
    const session = sessions.get(sessionId)
    if (end !== "taken" || session === undefined || (session.closedAt ?? until) < until) return false
    return !faults.some(
      ({ from, server, to }) => server === session.server && from <= until && until - SHORT_LEASE_MILLIS <= to
    )
  }).length
}

const quantilesOf = ({ all }: EventCases): string => {
  const waits = all
    .flatMap(({ acknowledged, event }) => (acknowledged === undefined ? [] : [acknowledged.at - event.createdAt]))
    .toSorted((a, b) => a - b)
  const [half, most, longest] = [quantile(waits, 0.5), quantile(waits, 0.99), waits.at(-1) ?? Number.NaN]
  return `p50 ${half} ms, p99 ${(most / 1_000).toFixed(1)} s, max ${(longest / 1_000).toFixed(1)} s`
}

/** The longest time from the end of all faults, or from a later event, to an acknowledgement. */
const slowestMillis = ({ all }: EventCases, calmAt: number): number =>
  latest(
    all.flatMap(({ acknowledged, event }) =>
      acknowledged === undefined ? [] : [acknowledged.at - Math.max(calmAt, event.createdAt)]
    )
  )

// Spreading so many into Math.min would exceed the limit of arguments.
const earliest = (times: ReadonlyArray<number>): number =>
  times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
const latest = (times: ReadonlyArray<number>): number => times.reduce((a, b) => Math.max(a, b), 0)
