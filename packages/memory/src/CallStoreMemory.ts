import {
  type Call,
  CallStore,
  type DeclinedKey,
  isInScope,
  Lookup,
  type RetentionScope,
  Timestamp,
  type Turn
} from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { type CallRow, compositeKey, OPEN, requireTenant, type Tables } from "./Tables.ts"

/** Calls and their turns in memory. */
export const layer = Layer.effect(
  CallStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { callExtensions, calls, declinedCalls, turns } = tables
    const get = (callId: string): Option.Option<Call> => Option.fromUndefinedOr(calls.get(callId)?.call)

    const put = (row: CallRow): Call => {
      requireWatch(row.call)
      calls.set(row.call.callId, row)
      return row.call
    }

    /** Returns the calls that ended at this time or before, those that ended first. */
    const endedBefore = (time: number, scope: RetentionScope): ReadonlyArray<CallRow> =>
      calls
        .rows()
        .filter(({ call: { endedAt } }) => endedAt !== null && endedAt <= time)
        .filter(({ call }) => isInScope(scope, call.tenantId))
        .toSorted(({ call: a }, { call: b }) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || byId(a, b))

    const forgetTurns = (callId: string): void => {
      for (const { turn } of turns.where("call", callId)) turns.delete(turnKey(callId, turn.index))
    }

    return CallStore.of({
      find: (tenantId, callId) => run(() => Lookup.of(calls.get(callId)?.call, tenantId)),
      get: (callId) => run(() => get(callId)),
      findByProvider: (providerCallId) =>
        run(() => Option.fromUndefinedOr(calls.where("provider", providerCallId)[0]?.call)),
      create: (call) =>
        run(() => {
          requireNumber(tables, call)
          if (calls.has(call.callId) || isKnownToProvider(tables, call)) return false
          put({ call, relayTokenHash: null, redeemedHash: null, turnCount: 0 })
          return true
        }),
      update: (call) =>
        run(() => {
          const row = calls.get(call.callId)
          if (row === undefined || row.call.tenantId !== call.tenantId || row.call.state === "ended") return false
          if (isKnownToProvider(tables, call)) throw new Error(`another call is ${call.providerCallId}`)
          put({ ...row, call })
          return true
        }),
      live: (phoneNumberId) =>
        run(() =>
          calls
            .where("live", phoneNumberId)
            .map(({ call }) => call)
            .toSorted((a, b) => a.createdAt - b.createdAt || byId(a, b))
        ),
      recent: (tenantId, since, limit) =>
        run(() =>
          calls
            .where("outbound", tenantId)
            .map(({ call }) => call)
            .filter(({ createdAt }) => createdAt >= since)
            .toSorted((a, b) => b.createdAt - a.createdAt || byId(b, a))
            .slice(0, limit)
        ),
      list: (tenantId, { after, before, direction, phoneNumberId }, position, limit) =>
        run(() =>
          calls
            .where("tenant", tenantId)
            .map(({ call }) => call)
            .filter(
              (call) =>
                (phoneNumberId === undefined || call.phoneNumberId === phoneNumberId) &&
                (direction === undefined || call.direction === direction) &&
                (after === undefined || call.createdAt >= after) &&
                (before === undefined || call.createdAt < before) &&
                (position === undefined ||
                  call.createdAt < position.createdAt ||
                  (call.createdAt === position.createdAt && call.callId < position.id))
            )
            .toSorted((a, b) => b.createdAt - a.createdAt || byId(b, a))
            .slice(0, limit)
        ),
      liveEach: (phoneNumberIds) =>
        run(() => [...new Set(phoneNumberIds)].flatMap((id) => calls.where("live", id).map(({ call }) => call))),
      extend: (callId, operationId, seconds) =>
        run(() => {
          const extension = callExtensions.get(operationId)
          if (extension !== undefined) return get(extension.callId)
          const row = calls.get(callId)
          if (row === undefined || row.call.state !== "in_progress" || row.call.hangUpReason !== null) {
            return Option.none()
          }
          callExtensions.set(operationId, { callId, seconds })
          return Option.some(put({ ...row, call: lengthened(row.call, seconds) }))
        }),
      extended: (operationId) =>
        run(() => Option.flatMap(Option.fromUndefinedOr(callExtensions.get(operationId)), ({ callId }) => get(callId))),
      revokeExtension: (operationId) =>
        run(() => {
          const extension = callExtensions.get(operationId)
          if (extension === undefined) return
          callExtensions.delete(operationId)
          const row = calls.get(extension.callId)
          if (row?.call.state === "in_progress") put({ ...row, call: shortened(row.call, extension.seconds) })
        }),
      takeWatched: (limit, millis) =>
        run((now) =>
          calls
            .where("watched", OPEN)
            .flatMap((row) => (row.call.watchAt === null ? [] : [{ row, at: row.call.watchAt }]))
            .filter(({ at }) => at <= now)
            .toSorted((a, b) => a.at - b.at || byId(a.row.call, b.row.call))
            .slice(0, limit)
            .map(({ row }) => put({ ...row, call: { ...row.call, watchAt: Timestamp.add(now, millis) } }))
        ),
      postponeWatch: (callId, watchAt, millis) =>
        run((now) => {
          const row = calls.get(callId)
          if (row === undefined || watchAt === null || row.call.watchAt !== watchAt) return null
          return put({ ...row, call: { ...row.call, watchAt: Timestamp.add(now, millis) } }).watchAt
        }),
      declinedOf: (phoneNumberId) => run(() => declinedCalls.where("number", phoneNumberId)),
      putDeclined: (record) => run(() => declinedCalls.set(declinedKey(record), record)),
      forgetDeclined: (key) => run(() => declinedCalls.delete(declinedKey(key))),
      dueDeclined: (now, limit) =>
        run(() =>
          declinedCalls
            .rows()
            .filter(({ dueAt }) => dueAt <= now)
            .toSorted((a, b) => a.dueAt - b.dueAt)
            .slice(0, limit)
            .map(({ caller, phoneNumberId, tenantId }) => ({ tenantId, phoneNumberId, caller }))
        ),
      issueRelay: (callId, tokenHash) =>
        run(() => {
          const row = calls.get(callId)
          if (row !== undefined) put({ ...row, relayTokenHash: tokenHash })
        }),
      redeemRelay: (tokenHash) =>
        run(() => {
          const row = calls.where("relay", tokenHash).find(({ call }) => call.state !== "ended")
          if (row === undefined) return Option.none()
          return Option.some(put({ ...row, relayTokenHash: null, redeemedHash: tokenHash }))
        }),
      redeemedRelay: (callId) => run(() => calls.get(callId)?.redeemedHash ?? null),
      addTurn: (callId, said) =>
        run(() => {
          const row = calls.get(callId)
          if (row === undefined) throw new Error(`call ${callId} does not exist`)
          const turn: Turn = { index: row.turnCount, ...said }
          put({ ...row, turnCount: row.turnCount + 1 })
          turns.set(turnKey(callId, turn.index), { callId, turn })
          return turn
        }),
      setTurnText: (callId, index, text) =>
        run(() => {
          const row = turns.get(turnKey(callId, index))
          if (row === undefined) throw new Error(`call ${callId} has no turn ${index}`)
          turns.set(turnKey(callId, index), { callId, turn: { ...row.turn, text } })
        }),
      turns: (callId, limit) =>
        run(() => {
          const all = turns.where("call", callId).map(({ turn }) => turn)
          const ordered = all.toSorted((a, b) => a.index - b.index)
          return limit === undefined ? ordered : ordered.slice(Math.max(0, ordered.length - limit))
        }),
      turnsAfter: (callId, index, limit) =>
        run(() =>
          turns
            .where("call", callId)
            .map(({ turn }) => turn)
            .filter((turn) => turn.index > index)
            .toSorted((a, b) => a.index - b.index)
            .slice(0, limit)
        ),
      remove: ({ age, limit, ...scope }) =>
        run((now) => {
          const removed = endedBefore(now - age, scope).slice(0, limit)
          for (const { call } of removed) {
            forgetTurns(call.callId)
            for (const [operationId, { callId }] of callExtensions.entries()) {
              if (callId === call.callId) callExtensions.delete(operationId)
            }
            calls.delete(call.callId)
          }
          return removed.length
        }),
      removeTurns: ({ age, limit, ...scope }) =>
        run((now) => {
          const taken = endedBefore(now - age, scope)
            .filter(({ turnsRemoved }) => turnsRemoved !== true)
            .slice(0, limit)
          for (const row of taken) {
            forgetTurns(row.call.callId)
            put({ ...row, turnsRemoved: true })
          }
          return taken.length
        })
    })
  })
)

const byId = (a: Call, b: Call): number => (a.callId < b.callId ? -1 : 1)

const declinedKey = ({ caller, phoneNumberId }: DeclinedKey): string => compositeKey(phoneNumberId, caller)

const turnKey = (callId: string, index: number): string => compositeKey(callId, String(index))

/** Returns whether another call has the same carrier id. */
const isKnownToProvider = ({ calls }: Tables, { callId, providerCallId }: Call): boolean =>
  providerCallId !== null && calls.where("provider", providerCallId).some(({ call }) => call.callId !== callId)

const lengthened = (call: Call, seconds: number): Call => ({
  ...call,
  authorizedSeconds: call.authorizedSeconds + seconds,
  extendedSeconds: call.extendedSeconds + seconds
})

/** Returns a call without these seconds of its extensions; polled at its new deadline at the latest. */
const shortened = (call: Call, seconds: number): Call => {
  const { answeredAt, watchAt } = call
  const shorter = lengthened(call, -seconds)
  if (answeredAt === null || watchAt === null) return shorter
  const deadline = answeredAt + shorter.authorizedSeconds * Timestamp.SECOND
  return { ...shorter, watchAt: Timestamp.Timestamp.make(Math.min(watchAt, deadline)) }
}

const requireNumber = (tables: Tables, { phoneNumberId, tenantId }: Call): void => {
  requireTenant(tables, tenantId)
  if (!tables.phoneNumbers.has(phoneNumberId)) throw new Error(`number ${phoneNumberId} does not exist`)
}

/** Dies if a live call has no `watchAt`, or an ended one has. */
const requireWatch = ({ callId, state, watchAt }: Call): void => {
  if ((watchAt === null) !== (state === "ended"))
    throw new Error(`call ${callId} is ${state} and watched at ${watchAt}`)
}
