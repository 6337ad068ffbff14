/** A page of a list. */
export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly nextCursor: string | null
}

const PAGE_SIZE = 100

/** Fetches pages until there are `limit` items or no more; its cursor goes on from there. */
export const collect = async <Item>(
  limit: number,
  cursor: string | undefined,
  fetchPage: (limit: number, cursor: string | undefined) => Promise<Page<Item>>
): Promise<Page<Item>> => {
  const items: Array<Item> = []
  let at = cursor
  for (;;) {
    const page = await fetchPage(Math.min(PAGE_SIZE, limit - items.length), at)
    items.push(...page.items)
    if (page.nextCursor === null || items.length >= limit || page.items.length === 0)
      return { items, nextCursor: page.nextCursor }
    at = page.nextCursor
  }
}
