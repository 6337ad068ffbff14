import { describeInput, type Environment, type Input, inputsOf, operationOf } from "@agentos/api"
import { type Capabilities, isAvailable, type ServiceEntry, SERVICES, Usdt } from "@agentos/core"
import type { GuideBlock } from "./GuideBlock.ts"

/** The facts about a server that its guide depends on. */
export interface GuideContext {
  readonly environment: Environment
  readonly publicUrl: string
  readonly capabilities: Capabilities
}

export const priceText = ({ price }: ServiceEntry): string =>
  price === null ? "free" : `${Usdt.toDecimal(price)} ${Usdt.ASSET}`

export const serviceRow = (entry: ServiceEntry, { capabilities }: GuideContext): ReadonlyArray<string> => [
  `\`${entry.serviceId}\`${extensionMark(entry)}`,
  `\`${entry.method} ${entry.path}\``,
  priceText(entry),
  entry.authentication,
  isAvailable(entry, capabilities) ? "yes" : "no"
]

const extensionMark = ({ extension }: ServiceEntry): string => (extension === undefined ? "" : " (extension)")

const servicesAt = (anchor: string): ReadonlyArray<ServiceEntry> =>
  SERVICES.filter(({ guide }) => guide.endsWith(`#${anchor}`))

const inputList = (inputs: ReadonlyArray<Input>): ReadonlyArray<GuideBlock> =>
  inputs.length === 0
    ? []
    : [
        {
          points: inputs.map(
            (input) =>
              `\`${input.name}\` (${input.in}, ${input.type}, ${input.required ? "required" : "optional"}): ${describeInput(input)}`
          )
        }
      ]

/** Returns the catalog's description of the services of a section. */
export const serviceBlocks = (anchor: string, { capabilities }: GuideContext): ReadonlyArray<GuideBlock> =>
  servicesAt(anchor).flatMap((entry): ReadonlyArray<GuideBlock> => [
    {
      text: `\`${entry.method} ${entry.path}\` (\`${entry.serviceId}\`, ${priceText(entry)})${extensionMark(entry)}${isAvailable(entry, capabilities) ? "" : ", not available on this server"}: ${entry.purpose}`
    },
    ...inputList(inputsOf(operationOf(entry)))
  ])
