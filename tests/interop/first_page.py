"""The example of the first page of the questdb package (PyPI, 6.0.0), word for word but for the address.

Run with the Python of the virtual environment that has the package: first_page.py HOST:PORT
"""
import sys

import numpy as np
import questdb
from questdb import TimestampNanos

conf = f'ws::addr={sys.argv[1]};'
with questdb.connect(conf) as db:
    with db.sender() as sender:
        sender.row(
            'trades',
            symbols={'symbol': 'ETH-USD', 'side': 'sell'},
            columns={
                'price': 2615.54,
                'amount': 0.00044,

                # NumPy float64 arrays require QuestDB server >= 9.0.0.
                'ord_book_bids': np.array([2615.54, 2618.63]),
            },
            at=TimestampNanos.now())
        sender.flush(wait=True)
