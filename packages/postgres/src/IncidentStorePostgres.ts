import { type Incident, IncidentStore, type IncidentKind } from "@agentos/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const INCIDENTS = Table.table("incidents", {
  // A newer server may have stored a kind that this one does not know.
  kind: Table.textOf<IncidentKind>().column("kind"),
  subject: Table.text("subject"),
  incidentId: Table.uuid("incident_id"),
  summary: Table.text("summary"),
  action: Table.text("action"),
  openedAt: Table.moment("opened_at"),
  seenAt: Table.moment("seen_at"),
  resolvedAt: Table.momentOrNull("resolved_at"),
  informed: Table.textArray("informed"),
  attempts: Table.integer("attempts"),
  attemptAt: Table.momentOrNull("attempt_at")
})

const toIncident: (row: Table.Stored<typeof INCIDENTS>) => Incident = INCIDENTS.toRecord

export const layer: Layer.Layer<IncidentStore, never, Database> = Layer.effect(
  IncidentStore,
  Effect.map(Database, ({ sql }) =>
    IncidentStore.of({
      list: Row.all(toIncident)(sql<Table.Stored<typeof INCIDENTS>>`
        select ${sql.literal(INCIDENTS.columns)} from incidents order by opened_at, kind collate "C", subject collate "C"`),
      put: (incident) =>
        Row.run(sql`
          insert into incidents ${Table.insert(sql, Table.valuesOf(INCIDENTS.fields, incident))}
          on conflict (kind, subject) do update set ${sql.literal(Table.replace(INCIDENTS.fields))}`),
      remove: ({ kind, subject }) =>
        Row.run(sql`
          delete from incidents where kind = ${Parameter.text(kind)} and subject = ${Parameter.text(subject)}`)
    })
  )
)
