python3 - <<'END'
import sqlite3
db = sqlite3.connect("shop.db")
db.execute("create table products (id integer primary key, name text, price_cents integer)")
db.execute("create table sales (product_id integer, quantity integer, day text)")
db.executemany("insert into products values (?, ?, ?)", [(1, "pen", 120), (2, "book", 999), (3, "bag", 2500)])
db.executemany("insert into sales values (?, ?, ?)", [(1, 10, "2026-03-01"), (2, 3, "2026-03-31"), (3, 4, "2026-04-01"), (1, 5, "2026-03-15"), (2, 9, "2025-03-10")])
db.commit()
END
