import { Lookup, type PhoneNumber, PhoneNumberStore, type TenantId } from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { OPEN, requireTenant } from "./Tables.ts"

/** Phone numbers in memory, and the reservations of purchases. */
export const layer = Layer.effect(
  PhoneNumberStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { reservedNumbers, phoneNumbers } = tables

    const owned = (tenantId: TenantId, phoneNumberId: string): PhoneNumber | undefined => {
      const number = phoneNumbers.get(phoneNumberId)
      return number?.tenantId === tenantId ? number : undefined
    }
    const unreleased = (number: string): ReadonlyArray<PhoneNumber> => phoneNumbers.where("number", number)

    const replace = (number: PhoneNumber): boolean => {
      const before = owned(number.tenantId, number.phoneNumberId)
      if (before === undefined || before.state === "released") return false
      phoneNumbers.set(number.phoneNumberId, number)
      return true
    }

    return PhoneNumberStore.of({
      find: (tenantId, phoneNumberId) => run(() => Lookup.of(phoneNumbers.get(phoneNumberId), tenantId)),
      findEach: (keys) => run(() => [...new Set(keys.flatMap((key) => owned(key.tenantId, key.phoneNumberId) ?? []))]),
      list: (tenantId) => run(() => phoneNumbers.where("tenant", tenantId).toSorted(by("createdAt"))),
      findByNumber: (number) => run(() => Option.fromUndefinedOr(unreleased(number)[0])),
      findByNumbers: (numbers) => run(() => [...new Set(numbers)].flatMap(unreleased)),
      reserve: (number, operationId) =>
        run(() => {
          const reservedBy = reservedNumbers.get(number)?.operationId
          if (reservedBy === operationId) return "reserved"
          if (reservedBy !== undefined || unreleased(number).length > 0) return "taken"
          for (const { number: before } of reservedNumbers.where("operation", operationId))
            reservedNumbers.delete(before)
          reservedNumbers.set(number, { number, operationId })
          return "reserved"
        }),
      reservation: (operationId) =>
        run(() => Option.fromUndefinedOr(reservedNumbers.where("operation", operationId)[0]?.number)),
      findReserved: (numbers) =>
        run(() => [...new Set(numbers)].flatMap((number) => reservedNumbers.get(number) ?? [])),
      reservations: (after, limit) =>
        run(() =>
          reservedNumbers
            .rows()
            .filter(({ operationId }) => after === undefined || operationId > after)
            .toSorted((a, b) => (a.operationId < b.operationId ? -1 : 1))
            .slice(0, limit)
        ),
      release: (operationId) =>
        run(() => {
          for (const { number } of reservedNumbers.where("operation", operationId)) reservedNumbers.delete(number)
        }),
      create: (number, operationId) =>
        run(() => {
          requireTenant(tables, number.tenantId)
          if (reservedNumbers.get(number.number)?.operationId !== operationId) {
            throw new Error(`operation ${operationId} has not reserved ${number.number}`)
          }
          reservedNumbers.delete(number.number)
          phoneNumbers.set(number.phoneNumberId, number)
        }),
      update: (number) => run(() => replace(number)),
      updateEach: (numbers) =>
        run(() => {
          if (new Set(numbers.map(({ phoneNumberId }) => phoneNumberId)).size < numbers.length) {
            throw new Error("a number occurs twice in one update")
          }
          return numbers.map(replace)
        }),
      dueForNotice: (now, limit) =>
        run(() =>
          phoneNumbers
            .where("active", OPEN)
            .flatMap((number) => (number.nextNotice === null ? [] : [{ number, at: number.nextNotice.at }]))
            .filter(({ at }) => at <= now)
            .toSorted((a, b) => a.at - b.at || byId(a.number, b.number))
            .slice(0, limit)
            .map(({ number }) => number)
        ),
      expired: (now, limit) =>
        run(() =>
          phoneNumbers
            .where("active", OPEN)
            .filter(({ expiresAt }) => expiresAt <= now)
            .toSorted(by("expiresAt"))
            .slice(0, limit)
        ),
      suspended: (after, limit) => run(() => page(phoneNumbers.where("suspended", OPEN), after, limit)),
      unreleased: (after, limit) => run(() => page(phoneNumbers.where("unreleased", OPEN), after, limit))
    })
  })
)

const byId = (a: PhoneNumber, b: PhoneNumber): number => (a.phoneNumberId < b.phoneNumberId ? -1 : 1)

const by =
  (moment: "createdAt" | "expiresAt") =>
  (a: PhoneNumber, b: PhoneNumber): number =>
    a[moment] - b[moment] || byId(a, b)

const page = (numbers: ReadonlyArray<PhoneNumber>, after: string | undefined, limit: number) =>
  numbers
    .filter(({ phoneNumberId }) => after === undefined || phoneNumberId > after)
    .toSorted(byId)
    .slice(0, limit)
