import type { ChaosResult } from "./ChaosRun.ts"
import { quantile } from "../bench/Bench.ts"
import { SHORT_LEASE_MILLIS } from "../support/ShortLease.ts"
import { type Cases, type Lease, makeCases } from "./Cases.ts"
import type { Violation } from "./Judge.ts"
import { countOvertakenByUndone } from "./OrderRules.ts"

/** Violations that are shown of each rule. */
const SHOWN = 5

/** What happened in figures, line by line. */
export const figuresOf = (result: ChaosResult): ReadonlyArray<string> => {
  const { closes, faults, history } = result
  const cases = makeCases(history)
  const { acknowledgements, appends, frames, sessions } = history
  const events = cases.all.length
  const begunAt = earliest(appends.map(({ askedAt }) => askedAt))
  const acknowledgedAt = cases.all.flatMap(({ acknowledged }) => acknowledged?.at ?? [])
  const seconds = (latest(acknowledgedAt) - begunAt) / 1_000
  const leases = cases.all.flatMap((each) => each.leases)
  const count = <A>(all: ReadonlyArray<A>, is: (one: A) => boolean): number => all.filter(is).length
  return [
    `${events} events in ${seconds.toFixed(0)} s: ${(events / seconds).toFixed(0)} a second, stored and acknowledged`,
    `${faults.length} faults: ${tally(faults.map(({ kind }) => kind))}`,
    `${sessions.length} sessions; closed with ${[...closes].map(([code, times]) => `${code}: ${times}`).join(", ")}`,
    `${leases.length} leases, ${leases.length - events} of them again: ${count(leases, ({ end }) => end === "taken")} had run out ` +
      `(${countUnrenewed(leases, result)} at servers with nothing wrong), ` +
      `${count(leases, ({ end }) => end === "released")} were given back; ${frames.length} deliveries arrived`,
    `${acknowledgements.length} acknowledgements: ${tally(acknowledgements.map(({ answer }) => answer ?? "not answered"))}; ` +
      `${count(acknowledgements, ({ sessionId }) => sessionId === undefined)} by REST`,
    `${history.undone.length} transactions were undone; ${countOvertakenByUndone(cases)} events came late because of that`,
    `from createdAt to acknowledged: ${quantilesOf(cases)}`,
    `the last acknowledgement ${(slowestMillis(cases, latest(faults.map(({ endedAt }) => endedAt))) / 1_000).toFixed(1)} s ` +
      "after the last fault, or after the event where that came later"
  ]
}

/** Leases that ran out although their session was open and its server had been left in peace for as long as a lease. */
const countUnrenewed = (leases: ReadonlyArray<Lease>, { faults, history }: ChaosResult): number => {
  const sessions = new Map(history.sessions.map((session) => [session.sessionId, session]))
  return leases.filter(({ end, sessionId, until }) => {
    const session = sessions.get(sessionId)
    if (end !== "taken" || session === undefined || (session.closedAt ?? until) < until) return false
    return !faults.some(
      ({ begunAt, endedAt, server }) =>
        server === session.server && begunAt <= until && until - SHORT_LEASE_MILLIS <= endedAt
    )
  }).length
}

const quantilesOf = ({ all }: Cases): string => {
  const waits = all
    .flatMap(({ acknowledged, event }) => (acknowledged === undefined ? [] : [acknowledged.at - event.createdAt]))
    .toSorted((a, b) => a - b)
  const [half, most, longest] = [quantile(waits, 0.5), quantile(waits, 0.99), waits.at(-1) ?? Number.NaN]
  return `p50 ${half} ms, p99 ${(most / 1_000).toFixed(1)} s, the longest ${(longest / 1_000).toFixed(1)} s`
}

/** The longest that an event waited for its acknowledgement when nothing went wrong any more. */
const slowestMillis = ({ all }: Cases, calmAt: number): number =>
  latest(
    all.flatMap(({ acknowledged, event }) =>
      acknowledged === undefined ? [] : [acknowledged.at - Math.max(calmAt, event.createdAt)]
    )
  )

const tally = (names: ReadonlyArray<string>): string =>
  [...Map.groupBy(names, (name) => name)].map(([name, all]) => `${all.length} ${name}`).join(", ")

const earliest = (moments: ReadonlyArray<number>): number =>
  moments.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
const latest = (moments: ReadonlyArray<number>): number => moments.reduce((a, b) => Math.max(a, b), 0)

/** The promises that were broken, each with how often, and some examples. */
export const violationsOf = (violations: ReadonlyArray<Violation>): ReadonlyArray<string> =>
  [...Map.groupBy(violations, ({ rule }) => rule)].flatMap(([rule, all]) => [
    `VIOLATED ${all.length} times: ${rule}`,
    ...all.slice(0, SHOWN).map(({ text }) => `  ${text}`),
    ...(all.length > SHOWN ? [`  and ${all.length - SHOWN} more`] : [])
  ])
