import { type RateUse, RateLimitStore, Timestamp } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { compositeKey } from "./Tables.ts"

const DELETED_AT_ONCE = 1_000

export const layer = Layer.effect(
  RateLimitStore,
  Effect.map(MemoryDatabase, ({ run, tables: { rateLimits } }) => {
    const add = ({ rule, subject, tokens }: RateUse, now: Timestamp.Timestamp): number => {
      const key = compositeKey(rule.name, subject)
      const stored = rateLimits.get(key) ?? { missing: 0, updatedAt: now, fullAt: now }
      const refilled = (Math.max(0, now - stored.updatedAt) * rule.perSecond) / 1000
      const missing = Math.min(2 * rule.burst, tokens + Math.max(0, stored.missing - refilled))
      const fullAt = Timestamp.add(now, Math.ceil((2000 * rule.burst) / rule.perSecond))
      rateLimits.set(key, { missing, updatedAt: now, fullAt })
      return missing
    }
    return RateLimitStore.of({
      exchange: (uses) => run((now) => uses.map((use) => add(use, now))),
      deleteFull: run((now) => {
        const full = rateLimits.entries().filter(([, { fullAt }]) => fullAt <= now)
        const deleted = full.slice(0, DELETED_AT_ONCE)
        for (const [key] of deleted) rateLimits.delete(key)
        return deleted.length
      })
    })
  })
)
