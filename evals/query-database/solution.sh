python3 - <<'END'
import json, sqlite3
rows = sqlite3.connect("shop.db").execute('''
    select name, sum(quantity), sum(quantity * price_cents) as cents from sales join products on products.id = product_id
    where day between '2026-03-01' and '2026-03-31' group by products.id order by cents desc''')
json.dump([dict(zip(("product", "quantity", "cents"), row)) for row in rows], open("sales.json", "w"))
END
