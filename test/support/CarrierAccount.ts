import type { SandboxDescription } from "@agentos/sandbox"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { Sandbox } from "./Sandbox.ts"

/** The service's account at the sandbox's carrier, used directly and not through the service. */
export class CarrierAccount {
  private readonly numbersUrl: string
  private readonly credentials: string

  private constructor(numbersUrl: string, credentials: string) {
    this.numbersUrl = numbersUrl
    this.credentials = credentials
  }

  static async open(
    { directory }: Pick<Sandbox, "directory">,
    { carrier }: SandboxDescription
  ): Promise<CarrierAccount> {
    const credentials = (await readFile(join(directory, "carrier", "account"), "utf8")).trim()
    const [sid = ""] = credentials.split(":")
    return new CarrierAccount(`${carrier.url}/2010-04-01/Accounts/${sid}/IncomingPhoneNumbers`, credentials)
  }

  /** Buys a number under a name. The service treats a number with its own label as its own. */
  async buy(number: string, name: string): Promise<void> {
    await this.ask(".json", { method: "POST", body: new URLSearchParams({ PhoneNumber: number, FriendlyName: name }) })
  }

  async release(number: string): Promise<void> {
    await this.ask(`/${await this.sidOf(number)}.json`, { method: "DELETE" })
  }

  /** Returns the carrier's id of a number that the account owns. */
  async sidOf(number: string): Promise<string | undefined> {
    const query = new URLSearchParams({ PhoneNumber: number }).toString()
    const page = (await (await this.ask(`.json?${query}`, {})).json()) as {
      readonly incoming_phone_numbers: ReadonlyArray<{ readonly sid: string }>
    }
    return page.incoming_phone_numbers[0]?.sid
  }

  private async ask(path: string, request: RequestInit): Promise<Response> {
    const headers = { authorization: `Basic ${Buffer.from(this.credentials).toString("base64")}` }
    const response = await fetch(this.numbersUrl + path, { ...request, headers })
    if (!response.ok) throw new Error(`the carrier answered ${response.status}: ${await response.text()}`)
    return response
  }
}
