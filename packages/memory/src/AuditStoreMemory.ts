import { AuditStore, RETENTION_DAYS_MIN, Timestamp } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

const YEAR = RETENTION_DAYS_MIN.audit * Timestamp.DAY

/** The audit in memory. */
export const layer = Layer.effect(
  AuditStore,
  Effect.map(MemoryDatabase, ({ run, tables: { auditRecords } }) =>
    AuditStore.of({
      append: (record) =>
        run(() => {
          if (!auditRecords.has(record.auditId)) auditRecords.set(record.auditId, record)
        }),
      list: ({ actor, before, limit, target }) =>
        run(() =>
          auditRecords
            .rows()
            .filter((record) => before === undefined || record.auditId < before)
            .filter((record) => actor === undefined || record.actor === actor)
            .filter((record) => target === undefined || record.target === target)
            .toSorted((a, b) => (a.auditId < b.auditId ? 1 : -1))
            .slice(0, limit)
        ),
      remove: ({ age, limit }) =>
        run((now) => {
          const old = auditRecords
            .rows()
            .filter(({ at }) => at <= now - Math.max(age, YEAR))
            .toSorted((a, b) => (a.auditId < b.auditId ? -1 : 1))
            .slice(0, limit)
          for (const { auditId } of old) auditRecords.delete(auditId)
          return old.length
        })
    })
  )
)
