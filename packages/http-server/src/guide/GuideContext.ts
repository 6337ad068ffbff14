import type { Environment } from "@agentos/api"
import { type Capabilities, isAvailable, type ServiceEntry, SERVICES, Usdt } from "@agentos/core"

/** What the guide has to know of the server that it is the guide of. */
export interface GuideContext {
  readonly environment: Environment
  readonly publicUrl: string
  readonly capabilities: Capabilities
}

export const priceText = ({ price }: ServiceEntry): string =>
  price === null ? "free" : `${Usdt.toDecimal(price)} ${Usdt.ASSET}`

/** One row of the table of services. */
export const serviceRow = (entry: ServiceEntry, { capabilities }: GuideContext): ReadonlyArray<string> => [
  `\`${entry.serviceId}\``,
  `\`${entry.method} ${entry.path}\``,
  priceText(entry),
  entry.authentication,
  isAvailable(entry, capabilities) ? "yes" : "no"
]

/** What the services of a section do, and what they take. */
export const servicesAt = (anchor: string): ReadonlyArray<ServiceEntry> =>
  SERVICES.filter(({ guide }) => guide.endsWith(`#${anchor}`))
