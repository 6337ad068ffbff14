import { catalogPages } from "./Catalogs.ts"
import { guide } from "./Guides.ts"
import type { Group } from "./Page.ts"
import { recordsPage } from "./Records.ts"
import { referenceGroups } from "./Reference.ts"

const guides = (label: string, ...slugs: ReadonlyArray<string>): Group => ({ label, pages: slugs.map(guide) })

/** Returns every page of the site, in the order of its navigation. */
export const groups = (): ReadonlyArray<Group> => [
  guides("Start", "index", "quickstart", "install", "examples", "journey", "sandbox"),
  guides("Use it", "client", "agentctl", "tools", "pay", "authentication", "mail", "phone", "events", "webhooks"),
  guides("Make it reliable", "errors", "idempotency", "limits", "security"),
  guides(
    "Run it",
    "embed",
    "adapters",
    "deploy",
    "proxies",
    "database",
    "operate",
    "alerts",
    "configuration",
    "payment-networks",
    "gas"
  ),
  { label: "Catalogs", pages: [...catalogPages(), recordsPage()] },
  ...referenceGroups().map(({ label, pages }) => ({ label: `Reference: ${label}`, pages }))
]
